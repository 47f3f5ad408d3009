#!/bin/bash
# SPDX-License-Identifier: MIT
# same.sh SIMULATE UNOPTIMIZED [FLAGS OF simulate...] -- play each seed four times: by the two
# programs, in a batch and alone.  Print a row for each variant and class, and end with 1 if the
# hashes of one seed's traces differ.
set -euo pipefail
optimized=$1 unoptimized=$2
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# alone PROGRAM: print the hash of each listed seed, played in a process of its own.
alone() {
    local variant class seed hash
    while read -r variant class seed hash; do
        # The exit status is that of the verdict, which may be bad for a lock that has to break.
        hash=$({ "$1" --variant="$variant" --class="$class" --seed="$seed" --quiet || true; } |
            sed -n 's/.*hash //p')
        printf '%s %s %s %s\n' "$variant" "$class" "$seed" "$hash"
    done
}

"$optimized" --hashes "$@" >"$dir/batch"
"$unoptimized" --hashes "$@" >"$dir/batch-o0" &
first=$!
alone "$optimized" <"$dir/batch" >"$dir/alone" &
second=$!
alone "$unoptimized" <"$dir/batch" >"$dir/alone-o0"
wait "$first"
wait "$second"

# The batch at -O2 is compared with the others.
awk '
    FNR == 1 { file++ }
    file == 1 {
        cell = sprintf("%-13s %-6s", $1, $2)
        if (!(cell in seeds)) cells[++count] = cell
        seeds[cell]++
        hash[$1, $2, $3] = $4
    }
    file > 1 {
        cell = sprintf("%-13s %-6s", $1, $2)
        if (hash[$1, $2, $3] == $4) same[cell, file]++
        else printf "# make simulate VARIANT=%s CLASS=%s SEED=%s: %s and %s\n", $1, $2, $3, hash[$1, $2, $3], $4
    }
    END {
        printf "%-13s %-6s %8s %9s %9s %9s  hashes\n", "variant", "class", "seeds", "alone", "-O0", "-O0 alone"
        for (i = 1; i <= count; i++) {
            cell = cells[i]
            is_same = 1
            for (f = 2; f <= 4; f++) is_same = is_same && same[cell, f] == seeds[cell]
            printf "%s %8d %9d %9d %9d  %s\n", cell, seeds[cell], same[cell, 2], same[cell, 3], same[cell, 4], is_same ? "the same" : "DIFFERENT"
            bad += !is_same
        }
        printf "%d cells, %d with a difference\n", count, bad
        exit bad > 0 || count == 0
    }' "$dir/batch" "$dir/alone" "$dir/batch-o0" "$dir/alone-o0"
