#!/bin/bash
# SPDX-License-Identifier: MIT
# known_bugs.sh -- checks that docs/reference/known-bugs.md names laws that exist, and prints TAP.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 70
page=docs/reference/known-bugs.md
list=tests/conformance/known_bugs.def
laws=$(build/tests/conformance --list | sed -E 's/^[a-z0-9-]+: //; s/ \([^()]*[#0-9A-Z][^()]*\)$//' | sort -u)
number=0 status=0

say() {
    number=$((number + 1))
    [ -z "$2" ] && { echo "ok $number - $1"; return; }
    printf '%s\n' "$2" | sed 's/^/# /'
    echo "not ok $number - $1"
    status=1
}

echo 1..2
missing=$(grep '^|' "$page" | grep -oE '\*[^*|]{8,}\*' | tr -d '*' | sort -u | while read -r law; do
    grep -qxF -- "$law" <<<"$laws" || echo "no law: $law"
done)
say 'every law that the page names is there' "$missing"

missing=$(sed -nE 's/^BUG\("([^"]*)".*/\1/p' "$list" | grep -oE '#[0-9]+' | while read -r bug; do
    grep -qE -- "$bug([^0-9]|\$)" "$page" || echo "not on the page: $bug"
done)
say 'every bug that a law shows is on the page' "$missing"
exit $status
