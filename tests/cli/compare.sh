#!/bin/bash
# SPDX-License-Identifier: MIT
# compare.sh -- a small comparison: the table, the files, the statuses, and Ctrl-C.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 14
lab=$work/lab
labs+=("$lab")

small() {
    "$seckill" compare --dir="$lab" --out="$work/runs" --locks=none,lua \
        --experiments=oversell --hazards=calm,slow --repeats=1
}
small >"$work/table" 2>"$work/progress"
got=$?
check 'the comparison comes out as expected' test "$got" -eq 0
check 'the table says who oversold' grep -Eq '^none +[0-9]+ over' "$work/table"
check 'and who did not' grep -Eq '^lua +sound' "$work/table"
check 'the comparison wrote its summary' test -s "$work/runs/latest/summary.json" \
    -a -s "$work/runs/latest/summary.md"
check 'each run can be audited later' status 1 "$seckill" audit --dir="$lab" \
    "$work/runs/latest/oversell/calm/none-1"
check 'the comparison took its servers down' test ! -e "$lab"

# Each process has one leader, so the two leaders compete, and the lock still decides.
combined() {
    "$seckill" compare --dir="$lab" --out="$work/combined" --order-path=combined --locks=none,lua \
        --experiments=oversell --hazards=calm --repeats=1 --record
}
check 'with orders in batches the cells come out as expected, too' combined
check 'the summary names the order path' grep -q '"order_path": "combined"' \
    "$work/combined/latest/summary.json"

# names_a_run COMMAND...: the command takes one run; it is given the directory of all, and names one.
names_a_run() {
    says "holds many runs; name one of them, such as" status 64 "$@" "$work/combined/latest" &&
        says "^  $work/combined/latest/oversell/calm/none-1$" "$@" "$work/combined/latest"
}
check 'check names a run of the comparison' names_a_run "$seckill" check
check 'so does audit' names_a_run "$seckill" audit --dir="$lab"
check 'which has the records of its locks' says 'calls' "$seckill" check "$work/combined/latest/oversell/calm/none-1"

# The first run has an outcome by the time the second run begins.
cut_short() {
    local pid
    "$seckill" compare --dir="$lab" --out="$work/cut" --locks=none,lua --hazards=slow \
        >"$work/cut.log" 2>&1 &
    pid=$!
    own "$pid"
    soon test -e "$work/cut/latest/oversell/slow/lua-1/wrk.txt" || return 1
    mapfile -t lab_pids < <(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$lab/state.json")
    mapfile -t children < <(pgrep -P "$pid")
    send INT "$pid"
    wait "$pid"
    cat "$work/cut.log"
    soon gone "${lab_pids[@]}" "${children[@]}" && [ ! -e "$lab" ]
}
check 'Ctrl-C in the middle leaves no process and no lab' cut_short
check 'but what there is was written' jq -e '.count.not_done > 0 and .cells[0].runs[0].outcome' "$work/cut/latest/summary.json"

# As after an interrupt, in a summary whose first cell has no run.
jq '.cells[0].runs = []' "$work/combined/latest/summary.json" >"$work/summary" && mv "$work/summary" "$work/combined/latest/summary.json"
check 'a cell without a run is passed over' says "^  $work/combined/latest/oversell/calm/lua-1$" \
    "$seckill" check "$work/combined/latest"
done_testing
