#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_front.sh -- four replicas of the service behind HAProxy with docker/haproxy.cfg: a
# rolling restart, and the death of a replica, both under `seckill load --rate`.
#
# The laboratory starts a seckilld of this test, which supervises the replicas and the front.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 11
PATH=$PATH:/usr/sbin
lab=$work/lab
labs+=("$lab")

# A replica that ends is started again, as by docker-compose, until the supervisor is told to stop.
# The name of a replica's process has that of the load, its number and how often it has been started.
wrap_seckilld <<'SUPERVISOR'
case " $* " in *' --show-config '*) exec "$seckilld" "$@" ;; esac
ports=()
while [ "${#ports[@]}" -lt 10 ]; do
    port=$((10000 + (RANDOM * 32768 + RANDOM) % 20000))
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ports+=("$port")
done
rm -f "$work"/stopping "$work"/pid-* "$work"/starts-* "$work"/ended-*
name=$(cat "$work/name")
note_own() { awk '{print $1, $22}' "/proc/$1/stat" >>"$work/owned"; }
supervise() {
    local i=$1 n=0 pid got
    shift
    while [ ! -e "$work/stopping" ]; do
        n=$((n + 1))
        "$seckilld" "$@" --listen="127.0.0.1:${ports[2 * i]}" --admin-listen="127.0.0.1:${ports[2 * i + 1]}" \
            --process="$name$i-$n" --stop-delay=2s --front=127.0.0.1 >"$work/ready-$i" 2>>"$work/log-$i" &
        pid=$!
        note_own "$pid"
        echo "$n" >"$work/starts-$i"
        echo "$pid" >"$work/pid-$i.new" && mv "$work/pid-$i.new" "$work/pid-$i"
        got=0 && wait "$pid" || got=$?
        echo "$got" >>"$work/ended-$i"
    done
}
supervisors=()
for i in 1 2 3 4; do supervise "$i" "$@" & supervisors+=("$!"); done
sed -e "s/^    bind :8080\$/    bind 127.0.0.1:${ports[0]}/" -e "s/^    bind :8404\$/    bind 127.0.0.1:${ports[1]}/" \
    -e "s/^    server-template .*/$(for i in 1 2 3 4; do
        printf '    server p%d 127.0.0.1:%d check port %d\\n' "$i" "${ports[2 * i]}" "${ports[2 * i + 1]}"; done)/" \
    "$config" >"$work/front.cfg"
FRONT_TIMEOUT=35s haproxy -db -f "$work/front.cfg" >"$work/front.log" 2>&1 &
front=$!
note_own "$front"
echo "http://127.0.0.1:${ports[1]}" >"$work/front-admin"
echo "http://127.0.0.1:${ports[0]}" >"$work/front-orders"
stop() {
    touch "$work/stopping"
    kill -TERM $(cat "$work"/pid-?) 2>/dev/null
    wait "${supervisors[@]}"
    kill -TERM "$front" && wait "$front"
    exit 0
}
trap stop TERM
until [ "$(curl -sf "http://127.0.0.1:${ports[1]}/metrics" |
    grep -c '^haproxy_server_status{proxy="seckilld",server="p.",state="UP"} 1')" = 4 ]; do
    kill -0 "$front" || exit 69
    sleep 0.05
done
echo "ready orders=http://127.0.0.1:${ports[0]} admin=http://127.0.0.1:${ports[3]}"
while kill -0 "$front" 2>/dev/null; do wait "$front"; done
SUPERVISOR
export work config=$root/docker/haproxy.cfg seckilld

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
sql() { psql --no-psqlrc -qAtX "$SECKILL_LAB_DATABASE_URL" -c "$1"; }

# start_load RUNS DURATION SECKILLD-FLAG...: $load is the laboratory at a fixed rate.
start_load() {
    local duration=$2
    runs=$work/$1
    echo "$1" >"$work/name"
    shift 2
    "$wrapped" load --dir="$lab" --out="$runs" --processes=1 --rate=200 --duration="$duration" -- \
        --lock=reentrant "$@" >"$runs.out" 2>&1 &
    load=$!
    own "$load"
}
accepts() { grep -qs accepted "$runs"/latest/ledger-1.tsv; }
# await_load: it audits what clients were told.  An interrupt would leave orders unanswered.
await_load() {
    wait "$load"
    got=$?
    run=$(readlink -f "$runs/latest")
    voucher=$(jq '.vouchers[0]' "$run/run.json")
}
has_ended() { cat "$runs.out" && [ "$got" = "$1" ] && [ "$voucher" -gt 0 ]; }
told() { jq ".outcomes[\"$1\"] // 0" "$run/load.json"; }
rows() { sql "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $voucher"; }
twice() {
    sql "SELECT count(*) FROM (SELECT user_id FROM tb_voucher_order WHERE voucher_id = $voucher
         GROUP BY user_id HAVING count(*) > 1) AS t"
}
front_says() { curl -sf "$(cat "$work/front-admin")/metrics" | grep -q "^$1"; }
is_up() { front_says "haproxy_server_status{proxy=\"seckilld\",server=\"p$1\",state=\"UP\"} 1"; }
was_started() { [ "$(cat "$work/starts-$1")" = "$2" ]; }
# sells NAME: that process has written a row.
sells() { [ "$(sql "SELECT count(*) FROM tb_voucher_order WHERE process = '$1'")" -gt 0 ]; }

# --- restarted one after another ---------------------------------------------------------

# restart REPLICA: as docs/how-to/run-behind-a-front.md says.
restart() {
    local i=$1
    soon sells "roll$i-1" && kill -TERM "$(cat "$work/pid-$i")" && soon was_started "$i" 2 &&
        soon is_up "$i" && soon sells "roll$i-2"
}
restart_all() { for i in 1 2 3 4; do restart "$i" || return 1; done; }
start_load roll 45s
check 'orders are accepted through the front' soon accepts
check 'each of four replicas is restarted, and sells before and after' restart_all
check 'the load goes on until then' is_own "$load"
await_load
check 'the audit finds the run valid' has_ended 0
check 'each replica that was told to stop ended with 0' \
    test "$(sort -u "$work"/ended-?)" = 0
all_accepted() {
    cat "$run/load.json" "$work"/front.log
    jq -e '.unanswered == 0 and .sent == .answered and ([.outcomes | to_entries[] | select(.value > 0) | .key] == ["accepted"])' "$run/load.json"
}
check 'every request was accepted: no 5xx, no connection error' all_accepted
exact() { [ "$(rows)" = "$(told accepted)" ] && [ "$(told accepted)" -gt 0 ] && grep -q '^VALID' "$runs.out"; }
check 'the rows are the orders that clients were told of' exact

# --- killed -------------------------------------------------------------------------------

# A second row of a user needs a second POST alone: nothing else keeps it away.
start_load kill 600s --lock=none --duplicate-guard=none --order-path=each
# The stopped replica has an order in a socket, which it has not read.  A session of the front may also be one
# whose answer is under way.
holds_order() {
    local port
    port=$(sed -nE 's/^ *server p2 127\.0\.0\.1:([0-9]+) .*/\1/p' "$work/front.cfg")
    awk -v at="$(printf ':%04X' "$port")" '
        $4 == "01" && substr($2, 9) == at && $5 !~ /:0+$/ { found = 1 }
        END { exit !found }' /proc/net/tcp
}
# The front has given orders, and perhaps GETs, to a replica that stands still; it dies then.
kill_one() {
    local n gets=() old
    old=$(cat "$work/pid-2")
    kill -STOP "$old" && soon holds_order || return 1
    for n in {1..8}; do
        curl -s -m 60 -o /dev/null -w '%{http_code}\n' "$(cat "$work/front-orders")/api/v1/vouchers" >"$work/get-$n" &
        gets+=("$!")
    done
    kill -KILL "$old"
    wait "${gets[@]}"
    soon was_started 2 2 && soon is_up 2 && soon sells kill2-2
}
check 'a replica with orders in progress is killed, and its successor sells' \
    eval 'soon accepts && soon sells kill2-1 && kill_one'
check 'each GET meanwhile is answered 200' test "$(sort -u "$work"/get-?)" = 200
send TERM "$load"
await_load
check 'an interrupted load is audited' has_ended 130
# The killed replica may have written the row of an order whose client was told 502, and the end of the load
# leaves requests without an answer.
sent_once() {
    local silent
    silent=$(jq '.unanswered // 0' "$run/load.json")
    echo "accepted $(told accepted), unknown $(told unknown), unanswered $silent, rows $(rows), users twice $(twice)"
    [ "$(told unknown)" -gt 0 ] && [ "$(twice)" = 0 ] && [ "$(rows)" -ge "$(told accepted)" ] &&
        [ "$(rows)" -le $(($(told accepted) + $(told unknown) + silent)) ]
}
check 'no order was sent twice: 502 and unknown, and no user has two rows' sent_once
done_testing
