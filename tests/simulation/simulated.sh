#!/bin/bash
# SPDX-License-Identifier: MIT
# simulated.sh FILE COMMAND SIMULATE... -- play the table of simulated worlds, and write FILE, the
# page of docs/results about it. COMMAND is the command in the page by which a reader writes the
# page again. The exit status is that of SIMULATE.
set -euo pipefail
cd "$(dirname "$0")/../.."
file=$1 command=$2
shift 2
table=$(mktemp)
trap 'rm -f "$table"' EXIT
status=0
"$@" | tee "$table" || status=$?
[ "$status" -gt 1 ] || tests/simulation/simulated_page.sh "$table" "$command" "$1" >"$file"
exit "$status"
