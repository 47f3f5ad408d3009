#!/bin/bash
# SPDX-License-Identifier: MIT
# planted_page.sh ROWS SEEDS EXPLAINED PATTERN FILE FOUND COUNT COMMIT -- prints the page of
# docs/results about planted bugs: the rows of planted.sh, and the reasons of not_hunted.sh why the
# other patches of tests/mutants are not hunted.
set -euo pipefail
cd "$(dirname "$0")/../.."
rows=$1 seeds=$2 explained=$3 pattern=$4 file=$5 found=$6 count=$7 commit=$8

cat <<PAGE
# Planted bugs, and the seeds until the simulation finds them

| | |
|---|---|
| date | $(date -u '+%Y-%m-%d %H:%M UTC') |
| commit | $commit |
| machine | $(uname -m), $(uname -sr), $(nproc) processors |
| command | \`make simulate-planted PLANTED_SEEDS=$seeds PLANTED_EXPLAINED=$explained MUTANTS='$pattern' MARKDOWN=$file\` |

Each bug is a patch of \`tests/mutants\`, planted alone. The simulation plays seeds of one subject in one class of
faults, from seed 1 on, until a verdict comes that must not come: at most $seeds seeds, and at most $explained where
the patch says why none can find it. $found of $count hunts found their bug. The column "tests" has the kinds of tests
that fail with the bug in \`make mutants\`.

| bug | kind | tests | subject and class | seeds until found | verdict, or why it is not found |
|---|---|---|---|---|---|
PAGE
cat "$rows"
patches=(tests/mutants/*.patch)
all=$(tests/simulation/not_hunted.sh)
printf '\n## Mutants of what is simulated that are not hunted\n\n| mutant | why |\n|---|---|\n'
grep -P '^\t' <<<"$all" | awk -F'\t' '{ printf "| `%s` | %s |\n", $2, $3 }'
printf '\n## Mutants of what is not simulated\n\n| mutants | they change |\n|---|---|\n'
grep -vP '^\t' <<<"$all" | cut -f1 | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/| \1 | \2 |/'
printf '\n%s of %s mutants are hunted.\n' "$((${#patches[@]} - $(wc -l <<<"$all")))" \
    "${#patches[@]}"
