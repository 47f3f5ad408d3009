#!/bin/bash
# SPDX-License-Identifier: MIT
# disturbed.sh -- a service process is killed, Redis restarts, PostgreSQL restarts, each
# in the middle of a run: no phantom answer, no lost order, and the service answers again.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 12
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
"$seckill" seed --users=100000 --vouchers=0 >/dev/null

# serve NAME LISTEN ADMIN: start a service process.
declare -A pid_of orders admin
has_started() { grep -q '^ready' "$work/ready-$1" || ! is_own "${pid_of[$1]}"; }
serve() {
    : >"$work/ready-$1" # without the line of the process before
    "$seckilld" --listen="$2" --admin-listen="$3" --process="$1" --workers=16 \
        >"$work/ready-$1" 2>>"$work/log-$1" &
    own "$!"
    pid_of[$1]=$!
    soon has_started "$1" && grep -q '^ready' "$work/ready-$1" || return 1
    orders[$1]=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready-$1")
    admin[$1]=$(sed -n 's/.*admin=\([^ ]*\).*/\1/p' "$work/ready-$1")
}
serve a 127.0.0.1:0 127.0.0.1:0
serve b 127.0.0.1:0 127.0.0.1:0
export SECKILL_URLS=${orders[a]},${orders[b]}

sold() {
    psql -qAt "$SECKILL_LAB_DATABASE_URL" \
        -c "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $SECKILL_VOUCHER" 2>/dev/null
}
sold_more_than() {
    local n
    n=$(sold) && [ -n "$n" ] && [ "$n" -gt "$1" ]
}

# disturb NAME COMMAND...: run the command in the middle of a run, and audit the run at its end.
disturb() {
    local name=$1 wrk before
    shift
    SECKILL_VOUCHER=$("$seckill" seed --users=100000 --stock=1000000 |
        sed -n 's/^voucher \([0-9]*\):.*/\1/p')
    export SECKILL_VOUCHER SECKILL_LEDGER_DIR=$work/$name
    mkdir "$work/$name"
    # The test ends wrk when it has seen everything, so the 600 s never pass.
    (cd "$root" && exec wrk -t2 -c16 -d600s --timeout 30s -s loadtest/wrk/order.lua "${orders[a]}") \
        >"$work/$name/wrk.txt" 2>&1 &
    wrk=$!
    own "$wrk"
    check "$name: orders are sold before" soon sold_more_than 100
    "$@"
    before=$(sold)
    check "$name: and after" soon sold_more_than "$((before + 100))"
    send INT "$wrk"
    wait "$wrk"
    check "$name: the audit finds every order and no phantom" status 0 \
        "$seckill" audit "$work/$name"
    check "$name: every request is accounted for" \
        grep -q '= the sum of the lines above' "$work/$name/wrk.txt"
}

kill_and_restart() {
    send KILL "${pid_of[a]}"
    wait "${pid_of[a]}" 2>/dev/null
    # Another test may have got one of its ports meanwhile.
    serve a "${orders[a]#http://}" "${admin[a]#http://}" ||
        { sed 's/^/# /' "$work/log-a" | tail -n 5; serve a 127.0.0.1:0 127.0.0.1:0; }
    SECKILL_URLS=${orders[a]},${orders[b]}
}
disturb killed kill_and_restart
disturb redis "$seckill" lab restart redis
disturb postgres "$seckill" lab restart postgres
done_testing
