#!/bin/bash
# SPDX-License-Identifier: MIT
# fuzz_http.sh -- a service with sanitizers refuses malformed requests, and the floods run beside an
# honest client, in small sizes.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 4
root=$(cd "$(dirname "$0")/../.." && pwd)

"$root/tests/fuzz/http/fuzz.py" --service="$root/build/asan/seckilld" --requests=4000 \
    >"$work/fuzz" 2>&1
check 'every kind of malformed request is refused and nothing is reported' test $? -eq 0
check 'all of them were sent' \
    grep -q '^4000 requests of .* 0 kinds wrong, 0 reports, exit status 0' "$work/fuzz"
"$root/loadtest/bench/floods/floods.py" --small --rounds=1 --seconds=0.5 >"$work/floods" 2>&1
ended=$?
serves_the_honest() { cat "$work/floods" && [ "$ended" -eq 0 ]; }
check 'no request of an honest client fails beside the floods' serves_the_honest
check 'and there is a line for each flood, address and way' \
    test "$(grep -cE '^(silent|polite|slow)' "$work/floods")" -eq 12
done_testing
