#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_front.sh -- four replicas of the service behind the front of `seckill load --front`: a
# rolling restart, and the death of a replica, both under `--rate`.
#
# The laboratory starts a wrapper of this test in place of each seckilld; the wrapper starts and restarts the
# replica.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 12
lab=$work/lab
labs+=("$lab")

# The wrapper starts a replica that has ended again on its ports, as docker compose does, until the wrapper gets
# SIGTERM.  The name of a replica's process is the name of the load, the number of the replica, and the number of
# its start.
wrap_seckilld <<'REPLICA'
case " $* " in *' --show-config '*) exec "$seckilld" "$@" ;; esac
i=$(printf '%s\n' "$@" | sed -n 's/^--process=p//p')
name=$(cat "$work/name")
orders=127.0.0.1:0 admin=127.0.0.1:0 n=0 pid='' is_stopping=false
rm -f "$work/pid-$i" "$work/starts-$i" "$work/ended-$i"
url_of() { sed -n "s|.* $1=\\(http://[^ ]*\\).*|\\1|p" "$work/ready-$i"; }
stop() {
    is_stopping=true
    kill -TERM "$pid" 2>/dev/null
}
trap stop TERM
until $is_stopping; do
    n=$((n + 1))
    "$seckilld" "$@" --listen="$orders" --admin-listen="$admin" --process="$name$i-$n" --stop-delay=2s \
        >"$work/ready-$i" 2>>"$work/log-$i" &
    pid=$!
    awk '{print $1, $22}' "/proc/$pid/stat" >>"$work/owned"
    echo "$pid" >"$work/pid-$i.new" && mv "$work/pid-$i.new" "$work/pid-$i"
    echo "$n" >"$work/starts-$i"
    if [ "$n" = 1 ]; then
        until grep -q '^ready ' "$work/ready-$i"; do kill -0 "$pid" || exit 69; sleep 0.05; done
        cat "$work/ready-$i"
        orders=$(url_of orders) && orders=${orders#http://}
        admin=$(url_of admin) && admin=${admin#http://}
    fi
    got=0 && wait "$pid" || got=$?
    # The trap of SIGTERM has ended the first wait.
    ! $is_stopping || { got=0 && wait "$pid" || got=$?; }
    echo "$got" >>"$work/ended-$i"
done
REPLICA
export work seckilld

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
sql() { psql --no-psqlrc -qAtX "$SECKILL_LAB_DATABASE_URL" -c "$1"; }

# start_load RUNS DURATION SECKILLD-FLAG...: start a load at a fixed rate, whose process is $load.
start_load() {
    local duration=$2
    runs=$work/$1
    echo "$1" >"$work/name"
    shift 2
    "$wrapped" load --dir="$lab" --out="$runs" --front --processes=4 --rate=200 --duration="$duration" -- \
        --lock=reentrant "$@" >"$runs.out" 2>&1 &
    load=$!
    own "$load"
}
accepts() { grep -qs accepted "$runs"/latest/ledger-1.tsv; }
# await_load: wait until the load has ended with its audit.  An interrupt would leave orders unanswered.
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
# is_up REPLICA: does the log of the front say that the replica is up again?
is_up() {
    grep -aoE "Server seckilld/p$1 is (UP|DOWN)" "$runs/latest/front.log" | tail -n 1 | grep -q UP
}
# Print the address of the front, by the inode of the socket that the laboratory gave to it.
front_url() {
    local front inode port
    front=$(pgrep -P "$load" -x haproxy) && inode=$(readlink "/proc/$front/fd/0") || return 1
    inode=${inode//[^0-9]/}
    port=$(awk -v inode="$inode" '$10 == inode {sub(".*:", "", $2); print $2}' /proc/net/tcp)
    echo "http://127.0.0.1:$((16#$port))"
}
was_started() { [ "$(cat "$work/starts-$1")" = "$2" ]; }
# sells NAME: has the process of that name written a row?
sells() { [ "$(sql "SELECT count(*) FROM tb_voucher_order WHERE process = '$1'")" -gt 0 ]; }

# Slow clients take two seconds to send an order for a voucher of their own.
slow_voucher=$("$seckill" seed --users=400 --stock=400 | sed -n 's/^voucher \([0-9]*\):.*/\1/p')
mapfile -t tokens < <(cut -d' ' -f2 "$lab/tokens.txt")
# slow_order PORT USER: send an order slowly, and print the status of the answer.
slow_order() {
    local piece status=none
    exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
    for piece in "POST /api/v1/vouchers/$slow_voucher" $'/orders HTTP/1.1\r\nHost:' $' shop\r\n' \
        "authorization: ${tokens[$2]}" $'\r\n\r\n'; do
        printf %s "$piece" >&3
        sleep 0.5
    done
    read -r -t 60 _ status _ <&3
    echo "$status"
    exec 3>&-
}
# order_slowly CLIENT: send one order after another, until all replicas were restarted.
order_slowly() {
    local port user=$(($1 * 100)) last=$(($1 * 100 + 99))
    port=$(front_url) || return 1
    port=${port##*:}
    until [ -e "$work/restarted" ] || [ "$user" = "$last" ]; do
        slow_order "$port" "$user" >>"$work/slow-$1" || return 1
        user=$((user + 1))
    done
}
are_sold_once() {
    sort "$work"/slow-? | uniq -c
    [ "$(sort -u "$work"/slow-?)" = 201 ] && [ "$(cat "$work"/slow-? | wc -l)" = \
        "$(sql "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $slow_voucher")" ]
}

# --- restarted one after another ---------------------------------------------------------

# restart REPLICA: stop it as docs/how-to/run-behind-a-front.md describes, and wait until it sells again.
restart() {
    local i=$1
    soon sells "roll$i-1" && send TERM "$(cat "$work/pid-$i")" && soon was_started "$i" 2 &&
        soon is_up "$i" && soon sells "roll$i-2"
}
restart_all() { for i in 1 2 3 4; do restart "$i" || return 1; done; }
# The load has to outlast four restarts, which take 20 to 25 s each on a busy machine.
start_load roll 120s
check 'orders are accepted through the front' soon accepts
slow=()
for client in 0 1 2 3; do order_slowly "$client" & slow+=("$!"); done
check 'each of four replicas is restarted, and sells before and after' restart_all
touch "$work/restarted"
wait "${slow[@]}"
check 'clients that send slowly meanwhile are sold their orders, each once' are_sold_once
check 'the load goes on until then' is_own "$load"
await_load
check 'the audit finds the run valid' has_ended 0
check 'each replica that was told to stop ended with 0' \
    test "$(cat "$work"/ended-? | sort | uniq -c | tr -s ' ')" = ' 8 0'
all_accepted() {
    cat "$run/load.json" "$run/front.log"
    jq -e '.unanswered == 0 and .sent == .answered and ([.outcomes | to_entries[] | select(.value > 0) | .key] == ["accepted"])' "$run/load.json"
}
check 'every request was accepted: no 5xx, no connection error' all_accepted
exact() { [ "$(rows)" = "$(told accepted)" ] && [ "$(told accepted)" -gt 0 ] && grep -q '^VALID' "$runs.out"; }
check 'the rows are the orders that clients were told of' exact

# --- killed -------------------------------------------------------------------------------

# Without lock and guard, a POST that is sent twice makes a second row of its user.
start_load kill 600s --lock=none --duplicate-guard=none --order-path=each
# holds_order: has the stopped replica an order in a socket that it has not read?  The sessions of the front do
# not show this, because a session may also wait for an answer.
holds_order() {
    local port
    port=$(sed -nE 's/^ *server p2 127\.0\.0\.1:([0-9]+) .*/\1/p' "$runs/latest/front.cfg")
    awk -v at="$(printf ':%04X' "$port")" '
        $4 == "01" && substr($2, 9) == at && $5 !~ /:0+$/ { found = 1 }
        END { exit !found }' /proc/net/tcp
}
# stands_still PID: has each of its threads stopped?  Until then a thread may read the order that holds_order saw.
stands_still() { ! cat "/proc/$1"/task/*/status | grep '^State:' | grep -qv 'T (stopped)'; }
# Kill a stopped replica to which the front has sent orders, and perhaps GETs.
kill_one() {
    local n gets=() old front
    old=$(cat "$work/pid-2") && front=$(front_url) || return 1
    kill -STOP "$old" && soon stands_still "$old" && soon holds_order || return 1
    for n in {1..8}; do
        curl -s -m 60 -o /dev/null -w '%{http_code}\n' "$front/api/v1/vouchers" >"$work/get-$n" &
        gets+=("$!")
    done
    send KILL "$old"
    wait "${gets[@]}"
    soon was_started 2 2 && soon sells kill2-2
}
check 'a replica with orders in progress is killed, and its successor sells' \
    eval 'soon accepts && soon sells kill2-1 && kill_one'
check 'each GET meanwhile is answered 200' test "$(sort -u "$work"/get-?)" = 200
send TERM "$load"
await_load
check 'an interrupted load is audited' has_ended 130
# The killed replica may have written the row of an order whose client got 502, or whose connection the front
# closed without an answer, as HAProxy does with connections that had requests before.  The interrupt of the load
# also leaves requests without an answer.
sent_once() {
    local silent
    silent=$(jq '.unanswered // 0' "$run/load.json")
    echo "accepted $(told accepted), unknown $(told unknown), unanswered $silent, rows $(rows), users twice $(twice)"
    [ $(($(told unknown) + silent)) -gt 0 ] && [ "$(twice)" = 0 ] && [ "$(rows)" -ge "$(told accepted)" ] &&
        [ "$(rows)" -le $(($(told accepted) + $(told unknown) + silent)) ]
}
check 'no order was sent twice: no user has two rows, and no row is without its client' sent_once
done_testing
