#!/bin/bash
# SPDX-License-Identifier: MIT
# simulated_page.sh TABLE COMMAND SIMULATE [COMMIT] -- the page of docs/results about simulated
# worlds, on stdout: the rows of TABLE, which SIMULATE has printed, and the bugs that were found.
set -euo pipefail
cd "$(dirname "$0")/../.."
table=$1 command=$2 simulate=$3 commit=${4:-$(git rev-parse --short=12 HEAD)}

# The cells: variant, class, seeds, calls, faults, seeds a second, verdicts, and what is said of them.
rows() { grep -E '^[a-z][a-z-]* +[a-z]+ +[0-9]+ ' "$table"; }

# with_commas: groups the digits of every number by thousands.
with_commas() { sed -E ':a; s/([0-9])([0-9]{3})($|[^0-9])/\1,\2\3/; ta'; }

totals() {
    rows | awk '{ seeds += $3; calls += $4; faults += $5; cells++; if (/ as expected$/) fine++ }
        END { printf "%.0f seeds, %.0f calls, %.0f faults, %d of %d cells as expected", seeds, calls, faults, fine, cells }'
}

cat <<PAGE
# The locks in simulated worlds

| | |
|---|---|
| date | $(date -u '+%Y-%m-%d %H:%M UTC') |
| commit | $commit |
| machine | $(uname -m), $(uname -sr), $(nproc) processors |
| command | \`$command\` |

In all: $(totals | with_commas).

A seed is one history: several processes take and give back locks, or sell a voucher, while the faults of its class
happen. [How the simulation works](../explanation/how-the-simulation-works.md) says what is judged, what the classes are, and how a
seed is played again. A variant is expected to break in some classes; the rows \`SIMULATED\` of
\`loadtest/expect/expectations.def\` say which, and why. A cell is as expected if no seed came to a verdict that must not
come and every verdict that has to come came. The rules of \`seckill check\` judged one seed of a hundred, too.

| variant | class | seeds | calls | faults | verdicts | |
|---|---|---|---|---|---|---|
PAGE
rows | sed -E 's/  +/ /g' | awk '{
    said = "as expected"; if (sub(/ NOT AS EXPECTED$/, "")) said = "**not as expected**"; else sub(/ as expected$/, "")
    verdicts = ""
    for (i = 7; i + 1 <= NF; i += 2) verdicts = verdicts (i > 7 ? ", " : "") $i " " $(i + 1)
    printf "| `%s` | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, verdicts, said
}'
cat <<'PAGE'

## Bugs that the simulation found

Each bug is mended. `make test` plays the circumstances of the bugs of the locks and of the sale, which are found in
`tests/simulation/story*.c`:

PAGE
"$simulate" --stories | sed -n 's/^ok [0-9]* - /- /p'
cat <<'PAGE'

The laws of `tests/conformance` and the histories of `tests/histories`, which are judged by `seckill check`, have these:

PAGE
sed -nE 's,^(#| \*) found by the simulation: ,- ,p' tests/conformance/*.c tests/histories/*/*.txt |
    sed 's, \*/$,,'
