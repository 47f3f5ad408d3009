#!/bin/bash
# SPDX-License-Identifier: MIT
# results.sh [NAME...] -- measure the pages of docs/results again (default: all), each with the
# command that docs/results/README.md names. A missed threshold (exit status 3) is a result too.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/build:$PATH PYTHONDONTWRITEBYTECODE=1
failed=0
while IFS='|' read -r _ page _ command _; do
    name=$(sed -n 's/.*(\(.*\)\.md).*/\1/p' <<<"$page")
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    command=$(tr -d '\140' <<<"$command")
    echo "==$command"
    status=0
    # shellcheck disable=SC2086  # a command and its flags
    $command </dev/null || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { echo "results: $name ended with $status" >&2; failed=1; }
done < <(grep '^| \[' docs/results/README.md)
tools/pages.py fill
exit $failed
