#!/bin/bash
# SPDX-License-Identifier: MIT
# tries.sh -- wrk counts an answer as a try for the lock only if the sale or the lock gave it.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 8
cd "$root" || exit 1

tries() { [ "$(python3 tests/cli/support/tries.py "$2")" -eq "$1" ]; }
for outcome in lock-busy sold-out accepted queued; do
    check "the answer $outcome counts as a try" tries 20 "$outcome"
done
for outcome in unavailable internal database-busy nonsense; do
    check "the answer $outcome does not" tries 0 "$outcome"
done
done_testing
