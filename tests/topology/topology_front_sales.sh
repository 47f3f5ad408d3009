#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_front_sales.sh -- sales through HAProxy (--front): the comparison has the same verdicts as without a
# front, the audit counts the orders of all processes, and the command reports a front that dies.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 12
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
sql() { psql --no-psqlrc -qAtX "$SECKILL_LAB_DATABASE_URL" -c "$1"; }
runs=$work/runs
note_run() {
    run=$(readlink -f "$runs/latest")
    voucher=$(jq '.vouchers[0]' "$run/run.json")
}
orders_come_from() {
    [ "$(sql "SELECT count(DISTINCT process) FROM tb_voucher_order WHERE voucher_id = $voucher")" = "$1" ]
}
is_exact() {
    [ "$(sql "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $voucher")" = \
        "$(jq '.outcomes.accepted' "$run/load.json")" ]
}

compared() {
    "$seckill" compare --dir="$lab" --out="$work/compared" --front --locks=local,lua,reentrant \
        --hazards=calm,freeze --experiments=oversell --repeats=1 --hazard-repeats=1 --quiet
}
check 'behind a front each lock breaks and holds as without one' compared
summary=$work/compared/latest/summary.json
verdict_of() { jq -e --arg lock "$1" --arg hazard "$2" ".cells[] | select(.lock == \$lock and .hazard == \$hazard) | $3" "$summary"; }
check 'locks of a process oversell, since the front spreads the orders over processes' \
    verdict_of local calm '.excess_max > 0'
check 'a lock in Redis does not' verdict_of lua calm '.excess_max == 0'
check 'the summary says that there was a front' jq -e '.settings.front' "$summary"

rated() {
    "$seckill" load --dir="$lab" --out="$runs" --front --processes=3 --rate=100 --duration=5s --quiet -- \
        --lock=reentrant --workers=16
}
check 'a load at a fixed rate through the front is valid' rated
note_run
check 'all processes behind it sold' orders_come_from 3
check 'the audit counts the orders of all' is_exact

"$seckill" load --dir="$lab" --out="$runs" --front --stock=1000000 --duration=60s --quiet -- --lock=reentrant \
    >"$work/dies" 2>&1 &
load=$!
own "$load"
sells() {
    note_run
    [ "$(sql "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $voucher")" -gt 50 ]
}
end_front() {
    local pid
    soon sells || return 1
    pid=$(pgrep -P "$load" -x haproxy) && kill "-$1" "$pid"
}
first=$run
starts() { [ "$(readlink -f "$runs/latest")" != "$first" ] && [ -s "$runs/latest/run.json" ]; }
soon starts
# is_traced: send a request without its body, so that the front logs a timeout.
trace=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
is_traced() {
    local client port
    client=$(pgrep -P "$load" -x wrk | head -n 1) &&
        port=$(tr '\0' '\n' <"/proc/$client/cmdline" | sed -n 's|^http://127.0.0.1:||p') || return 1
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'POST /x HTTP/1.1\r\nHost: shop\r\ntraceparent: %s\r\nContent-Length: 9\r\n\r\n' "$trace" >&3
    timeout 30 cat <&3 | grep ' 408 '
    exec 3>&-
    soon grep -F "{$trace}" "$runs/latest/front.log"
}
check 'the log of the front names the trace of a request that went wrong' eval 'soon sells && is_traced'
check 'every request goes through the front: it is killed' end_front KILL
{ send INT "$load" && wait "$load"; } 2>/dev/null
check 'the command names the front that died' grep 'HAProxy died in the middle of the run' "$work/dies"

# ends_after SIGNAL: a load whose front gets this signal; print the exit status.
ends_after() {
    local seconds
    for seconds in 8 30 120; do # on a slow machine a load may end before the front gets the signal
        first=$(readlink -f "$runs/latest")
        "$seckill" load --dir="$lab" --out="$runs" --front --rate=50 --duration=${seconds}s --quiet -- \
            --lock=reentrant >"$work/ends" 2>&1 &
        load=$!
        own "$load"
        if soon starts && end_front "$1"; then
            wait "$load"
            echo $?
            return
        fi
        wait "$load"
    done
    echo 'no front got the signal'
}
check 'a front that crashed makes a valid load end with 70' test "$(ends_after SEGV)" = 70
check 'a front that was stopped from outside does not' test "$(ends_after TERM)" = 0
done_testing
