#!/bin/bash
# SPDX-License-Identifier: MIT
# check-names.sh -- no code branches on the displayed name of a store, a lock, a guard, a
# scope or a hazard: names are read by parsers, which the list below names, and everything
# else compares enums, capabilities or pointers.
set -euo pipefail

# Files that read words from a command line, a setting or a file.
parsers='lock/retry\.c|base/http/admin_access\.c|loadtest/check/write_log\.c'

# quoted FILE...: every name that one of the files gives itself, as alternatives.
quoted() { sed -nE 's/^ *\.name = "([a-z-]+)",?$/\1/p' "$@" | sort -u | paste -sd '|'; }

stores=$(sed -nE 's/^(LOCAL_)?STORE\([A-Z_]+, "([a-z][^"]+)".*/\2/p' lock/stores.def | paste -sd '|')
locks=$(quoted lock/variants/*.c)
guards=$(quoted db/guards/*.c)
hazards=$(quoted loadtest/sale/hazards/*.c)
for list in "$stores" "$locks" "$guards" "$hazards"; do
    [ -n "$list" ] || { echo 'check-names: a list of names is empty' >&2; exit 70; }
done
names="$stores|$locks|$guards|$hazards|user|voucher"

compares='\<str(n|case|ncase)?cmp\('
hits=$(git ls-files -co --exclude-standard -- 'app/*.[ch]' 'lock/*.[ch]' 'loadtest/*.[ch]' \
    'db/*.[ch]' 'base/*.[ch]' | grep -vxE "$parsers" |
    xargs grep -nE "${compares}[^;]*\"($names)\"|${compares}[^;]*((->|\.)store\>|(lock|variant|guard|hazard|scope)(\(s\))?->name\>)" || true)
[ -z "$hits" ] || {
    printf 'check-names: a name is compared outside a parser\n%s\n' "$hits"
    exit 1
}
