#!/bin/bash
# SPDX-License-Identifier: MIT
# simulated.sh FILE COMMAND SIMULATE... -- play the table of simulated worlds, and write it to FILE,
# the page of docs/results. COMMAND is the command in the page by which a reader writes the page
# again. The exit status is that of SIMULATE.
set -euo pipefail
cd "$(dirname "$0")/../.."
file=$1 command=$2
shift 2
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
"$@" | tee "$table" || status=$?
[ "$status" -le 1 ] || exit "$status"
{
    cat <<PAGE
# The locks in simulated worlds

\`$command\`
wrote this table on $(date -u +%F) at commit $(git rev-parse --short=12 HEAD), on $(uname -m),
$(uname -sr), $(nproc) processors.

| variant | class | seeds | calls | faults | verdicts | |
|---|---|---|---|---|---|---|
PAGE
    # The cells: variant, class, seeds, calls, faults, seeds a second, verdicts, and what is said.
    grep -E '^[a-z][a-z-]* +[a-z]+ +[0-9]+ ' "$table" | sed -E 's/  +/ /g' | awk '{
        said = sub(/ NOT AS EXPECTED$/, "") ? "**not as expected**" : "as expected"
        sub(/ as expected$/, "")
        verdicts = ""
        for (i = 7; i + 1 <= NF; i += 2) verdicts = verdicts (i > 7 ? ", " : "") $i " " $(i + 1)
        printf "| `%s` | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, verdicts, said
    }'
} >"$file"
exit "$status"
