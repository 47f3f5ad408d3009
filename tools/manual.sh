#!/bin/bash
# SPDX-License-Identifier: MIT
# manual.sh library DIR | manual.sh programs DIR BUILD -- make the manual pages.
#
# Those of the library (section 3, dlock(7), dlock_primitives(7)) come from the public
# headers, those of the programs (section 1) from what BUILD/seckilld and BUILD/seckill
# print for --help, with a page for each command of seckill.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { echo 'usage: manual.sh library DIR | programs DIR BUILD' >&2; exit 64; }
out=$2
version=$(sed -n 's/^#define SECKILL_VERSION "\(.*\)"/\1/p' base/text/version.h)
rm -rf "$out"
mkdir -p "$out"

# whole HEADER: print the header, with the headers of its groups in place of their includes.
whole() {
    awk '
        /^#include "dlock_/ && FILENAME ~ /dlock\.h$/ {
            split($0, quoted, "\"")
            in_group = 0
            while ((getline line <("lock/" quoted[2])) > 0) {
                if (line ~ /^\/\* ---- /) in_group = 1
                if (line ~ /^#endif \/\* DLOCK_/) in_group = 0
                if (in_group) print line
            }
            next
        }
        { print }' "lock/$1"
}

# from_header HEADER ALSO: make the pages of its groups of functions, and of its overview.
from_header() {
    whole "$1" | awk -v out="$out" -v version="$version" -v header="$1" -v manual="${1%.h}" -v also="$2" \
        -f tools/manual-library.awk
}

# from_help PAGE WHAT COMMAND...
from_help() {
    local page=$1 what=$2
    shift 2
    env -i "$@" --help | awk -v page="$page" -v version="$version" -v what="$what" \
        -f tools/manual-program.awk >"$out/$page.1"
}

case $1 in
    library)
        from_header dlock.h dlock_primitives
        from_header dlock_primitives.h dlock
        from_header dlock_async.h dlock
        ;;
    programs)
        build=$3
        from_help seckilld 'take orders for vouchers over HTTP, behind a lock' "$build/seckilld"
        from_help seckill 'the laboratory around seckilld' "$build/seckill"
        "$build/seckill" --help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\)  *\(.*\)/\1 \2/p' |
            while read -r command what; do
                from_help "seckill-$command" "$what" "$build/seckill" "$command"
            done
        ;;
    *) echo "manual.sh: not $1 but library or programs" >&2; exit 64 ;;
esac
