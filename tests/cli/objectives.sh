#!/bin/bash
# SPDX-License-Identifier: MIT
# objectives.sh -- objectives of a load with wrk and of a comparison, and the exit statuses for them.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 15
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
load=("$seckill" load --dir="$lab" --out="$work/runs" --stock=100)
compare=("$seckill" compare --dir="$lab" --out="$work/compared" --experiments=oversell --hazards=calm --repeats=1)
# Without a lock and without a guard a stock of 100 is oversold each time.
broken=(-- --lock=none --order-path=each --stock-guard=read-write --duplicate-guard=none)

refused() { says "$2" status 64 "$seckill" "$1" --dir="$lab" --objective="$3"; }
check 'load refuses an objective with its place' refused load '"oversold=x", at "x": expected a whole number' 'oversold=x'
check 'compare refuses the same in the same words' refused compare '"oversold=x", at "x": expected a whole number' 'oversold=x'
check 'compare refuses a quantile that wrk does not tell' refused compare 'p50, p90, p95' 'p97<1s'
check 'the help names what an objective may be about' says 'oversold, doubles, lost' "$seckill" load --help

"${load[@]}" --objective='p99<100s' --objective='oversold=0' --objective='failed<=100%' -- --lock=reentrant >"$work/kept" 2>&1
got=$?
cat "$work/kept"
check 'a run of wrk that keeps its objectives ends with 0' test "$got" -eq 0
check 'and each is printed with what was measured' says '^  holds       oversold=0: 0$' cat "$work/kept"
"${load[@]}" --objective='p99<100s' --objective='oversold>0' -- --lock=reentrant >"$work/missed" 2>&1
got=$?
cat "$work/missed"
check 'an objective that is missed ends with exit status 3' test "$got" -eq 3
first_of() { grep -A1 '^Objectives' "$1" | tail -n 1; }
check 'the one that is missed stands first' test "$(first_of "$work/missed")" = '  MISSED      oversold>0: 0'
check 'the last line names it' says '^seckill load: exit 3: oversold>0 is MISSED: 0$' tail -n 1 "$work/missed"

# Each sale that is oversold by a read and a write has lost updates, too.
"${load[@]}" --objective='p99<100s' --objective='oversold=0' "${broken[@]}" >"$work/oversold" 2>&1
got=$?
cat "$work/oversold"
check 'a missed objective hides no finding that no objective is about' test "$got" -eq 1
check 'and is printed all the same' says '^  MISSED      oversold=0: [1-9]' first_of "$work/oversold"
check 'the last line explains the status of a load' says '^seckill load: exit 1: the audit says that the run is invalid$' \
    tail -n 1 "$work/oversold"

# Nothing is measured for this objective, since a lock that never sells gets no orders.
"${load[@]}" --stock=0 --objective='p99<100s' -- --lock=reentrant >"$work/unjudged" 2>&1
cat "$work/unjudged"
check 'an objective without a figure is not judged, and not reached' says '^  not judged  p99<100s: nothing was measured' cat "$work/unjudged"

"${compare[@]}" --locks=none,reentrant --objective='oversold=0' --objective='p50<100s' >"$work/table" 2>&1
got=$?
cat "$work/table"
check 'a comparison whose objective is missed ends with 3, and names lock and figure' \
    test "$got $(grep -c '^seckill compare: exit 3: oversold=0 is MISSED: oversell, calm, none: [0-9]' "$work/table")" = '3 1'
told() { jq -e '.objectives | map(.holds) == [false, true]' "$work"/compared/*/summary.json; }
check 'its summary has the objectives' told
done_testing
