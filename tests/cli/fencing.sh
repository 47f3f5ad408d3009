#!/bin/bash
# SPDX-License-Identifier: MIT
# fencing.sh -- a process that is stopped beyond its lease, with a guard that compares fences: no
# unit is oversold, and the voucher's record of writes proves it.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 10
lab=$work/lab
labs+=("$lab")

compare() {
    "$seckill" compare --dir="$lab" --out="$work/runs" --locks=fenced,lua \
        --experiments=oversell,fencing --hazards=freeze --record >"$work/table" 2>&1 ||
        { cat "$work/table" && false; }
}
check 'the comparison comes out as expected' compare
check 'without the guard the same lock oversells' \
    grep -Eq '^fenced +[0-9]+ over' "$work/table"
check 'with it, it does not' grep -Eq '^fenced +sound' "$work/table"
check 'a lock without a fence does not take part' \
    test "$(grep -c '^lua ' "$work/table")" -eq 1

run=$work/runs/latest/fencing/freeze/fenced-1
outcomes() { cut -f9 "$run/writes.tsv" | grep -cx "$1"; }
check 'the late write is in the record, refused' test "$(outcomes stale)" -ge 1
check 'and one line for each order' \
    test "$(outcomes accepted)" -eq "$(grep -vc '^#' "$run/orders.tsv")"
check 'the record bears the fences out' status 0 "$seckill" check --only=resource "$run"
check 'and the orders and the stock bear it out' status 0 "$seckill" check --only=orders \
    "$run"
sed -i 's/\tstale\t/\taccepted\t/' "$run/writes.tsv"
check 'a stale write that was taken is found' status 1 "$seckill" check --only=resource \
    "$run"
check 'and that it has no order' says 'was taken, and has no order' "$seckill" check \
    --only=orders "$run"
done_testing
