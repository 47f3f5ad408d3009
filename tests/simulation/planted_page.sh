#!/bin/bash
# SPDX-License-Identifier: MIT
# planted_page.sh ROWS SEEDS FOUND COUNT -- the page of docs/results about planted bugs, from the
# rows of planted.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
rows=$1 seeds=$2 found=$3 count=$4
cat <<PAGE
# Planted bugs, and the seeds until the simulation finds them

| | |
|---|---|
| date | $(date -u '+%Y-%m-%d %H:%M UTC') |
| commit | $(git rev-parse --short=12 HEAD) |
| machine | $(uname -m), $(uname -sr), $(nproc) processors |
| command | \`make simulate-planted PLANTED_SEEDS=$seeds MARKDOWN=docs/results/planted.md\` |

Each bug is a patch of \`tests/mutants\`, planted alone. The simulation plays seeds of one subject in one class of
faults, from seed 1 on, until a verdict comes that must not come, and at most $seeds. $found of $count hunts found their bug.

| bug | kind | subject | class | seeds until found | verdict, or why it is not found |
|---|---|---|---|---|---|
PAGE
cat "$rows"
