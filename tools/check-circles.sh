#!/bin/bash
# SPDX-License-Identifier: MIT
# check-circles.sh -- no two files use each other, neither directly nor through others.
#
# A header and the .c file of the same name count as one file. A file uses the files that it
# includes, and the files that define the undefined symbols of its object file, so `make all` must
# have run. Files that use each other, also through others, are printed as a circle. app/ defines
# some functions of the C library for civetweb, so these definitions count only inside of app/.
set -euo pipefail
# `make all` does not build these programs and this library, so they have no object files, and only
# their includes are known.
not_built='loadtest/peers/ours|loadtest/fault/preload'
rooms=(base lock db app loadtest)

mapfile -t sources < <(git ls-files -co --exclude-standard -- "${rooms[@]/%//*.[ch]}" |
    while read -r file; do [ ! -e "$file" ] || echo "$file"; done)

# Lines "file file": the first includes the second.
includes() {
    grep -HE '^#include "' "${sources[@]}" |
        sed -nE 's/^([^:]+)\.[ch]:#include "([^"]+)\.[ch]"/\1 \2/p'
}

# Lines "U symbol file" and "D symbol file": what an object file needs, and what it defines.
symbols() {
    local source object objects=()
    for source in "${sources[@]}"; do
        object=build/obj/${source%.c}.o
        [[ $source == *.c && ! $source =~ ^($not_built)/ ]] || continue
        [ -e "$object" ] || { echo "check-circles: there is no $object; run make all" >&2; return 69; }
        objects+=("$object")
    done
    nm -A "${objects[@]}" | sed -E 's,^build/obj/([^:]+)\.o:,\1 ,' | awk '
        $(NF - 1) == "U" { print "U", $NF, $1 }
        $(NF - 1) ~ /^[TDBRCGSVW]$/ { print "D", $NF, $1 }'
}

# Lines "file file": the first needs a symbol of the second.
links() {
    awk '$1 == "D" { definer[$2] = $3 }
         $1 == "U" { user[++count] = $3; needed[count] = $2 }
         END { for (i = 1; i <= count; i++)
                   if (needed[i] in definer && (definer[needed[i]] !~ /^app\// || user[i] ~ /^app\//))
                       print user[i], definer[needed[i]] }'
}

uses=$(
    set -e
    names=$(printf '%s\n' "${sources[@]%.[ch]}" | sort -u)
    found=$(symbols)
    { includes; links <<<"$found"; } | sort -u |
        awk 'NR == FNR { known[$1]; next } $1 != $2 && $1 in known && $2 in known' \
            <(printf '%s\n' "$names") -
)
[ -n "$uses" ] || { echo 'check-circles: no file uses another, which cannot be' >&2; exit 70; }

# An arrow belongs to a circle if a path leads from its end to its beginning.
circles=$(awk '
    function way(here, there,    i, n, next_ones) {
        if (here == there) return 1
        if (here in been) return 0
        been[here]
        n = split(uses[here], next_ones, " ")
        for (i = 1; i <= n; i++) if (way(next_ones[i], there)) return 1
        return 0
    }
    { from[NR] = $1; to[NR] = $2; uses[$1] = uses[$1] " " $2 }
    END {
        for (arrow = 1; arrow <= NR; arrow++) {
            split("", been)
            if (way(to[arrow], from[arrow]))
                print "check-circles: " from[arrow] " -> " to[arrow]
        }
    }' <<<"$uses")
[ -z "$circles" ] || { printf '%s\n' "$circles"; exit 1; }
