#!/bin/bash
# SPDX-License-Identifier: MIT
# by_hand.sh -- runs a plain wrk against a service with its defaults.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 12
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
"$seckill" seed --users=100000 --stock=100 >"$work/seed"
check 'seed prints the line to use' grep -q 'wrk -t2 -c64 -d10s --timeout 30s -s' "$work/seed"
SECKILL_VOUCHER=$(sed -n 's/^voucher \([0-9]*\):.*/\1/p' "$work/seed")
export SECKILL_VOUCHER SECKILL_LEDGER_DIR=$work/run
mkdir "$work/run"
"$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 >"$work/ready" 2>"$work/log" &
service=$!
own "$service"
soon grep -q '^ready' "$work/ready"
url=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready")
cd "$root" && wrk -t2 -c64 -d3s --timeout 30s -s loadtest/wrk/order.lua "$url" >"$work/wrk"

line() { awk -v name="$1" '$1 == name {print $2}' "$work/wrk"; }
query() { psql -qAt "$SECKILL_LAB_DATABASE_URL" -c "$1"; }
adds_up() {
    cat "$work/wrk"
    grep -q '= the sum of the lines above' "$work/wrk" &&
        awk '/^Orders for/ {on = 1; next}
             on && $1 == "sent" {exit !(sum == $2)}
             on && $1 == "no" {sum += $3; next}
             on {sum += $2}' "$work/wrk"
}
# The script of wrk counts the answers.
as_wrk_counted() {
    local answered
    answered=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' "$work/wrk")
    [ "$(($(line sent) - $(awk '/^  no answer/ {print $3}' "$work/wrk")))" -eq "$answered" ]
}
check 'exactly 100 were accepted' test "$(line accepted)" = 100
check 'exactly 100 orders are there' \
    test "$(query "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $SECKILL_VOUCHER")" = 100
check 'no user has two' \
    test "$(query "SELECT count(DISTINCT user_id) FROM tb_voucher_order WHERE voucher_id = $SECKILL_VOUCHER")" = 100
check 'the histogram adds up to what was sent' adds_up
check 'and to what wrk counted' as_wrk_counted
check 'the audit agrees' status 0 "$seckill" audit "$work/run"
check 'and counts a voucher once that is named twice' says 'issued 100, orders 100,' \
    status 0 "$seckill" audit --voucher="$SECKILL_VOUCHER,$SECKILL_VOUCHER" "$work/run"
send TERM "$service"
wait "$service"
got=$?
check 'the service ends with 0' test "$got" -eq 0

# The service has one connection to the database, which waits for a row that another session has
# locked.
SECKILL_VOUCHER=$("$seckill" seed --users=0 --stock=100 | sed -n 's/^voucher \([0-9]*\):.*/\1/p')
psql -qAt "$SECKILL_LAB_DATABASE_URL" >"$work/holder" 2>&1 <<SQL &
BEGIN;
SELECT 'held' FROM tb_seckill_voucher WHERE voucher_id = $SECKILL_VOUCHER FOR UPDATE;
SELECT pg_sleep(600);
SQL
own "$!"
"$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 --lock=none \
    --database-connections=1 --database-wait=10ms >"$work/ready" 2>"$work/log" &
own "$!"
soon grep -q held "$work/holder"
soon grep -q '^ready' "$work/ready"
url=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready")
SECKILL_LEDGER_DIR='' wrk -t1 -c16 -d3s --timeout 30s -s loadtest/wrk/order.lua "$url" >"$work/wrk"
check 'a refusal for want of a connection is counted by its name' \
    grep -Eq '^  database-busy +[1-9]' "$work/wrk"
check 'a load that sells nothing says why its verdict is unknown: 2' \
    says 'exit 2: .*the evidence is not complete, or nothing was shown' \
    status 2 "$seckill" load --dir="$lab" --out="$work/runs" --stock=0 --duration=1s
lacks_others() { cat "$work/wrk" && ! grep -q 'other (' "$work/wrk"; }
check 'and no outcome is without a name' lacks_others
done_testing
