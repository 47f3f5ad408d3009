# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154  # root and work are tap.sh's, pids is run's
# core.sh -- the checks of the shop without a profile.  tests/compose/run sources it.

# --- from nothing to the first order -------------------------------------------------

accepts() {
    compose config --quiet &&
        FRONT_PORT=9 SECKILL_LOCK=fenced says 'SECKILL_LOCK: fenced' compose config
}
check 'docker compose accepts the file, with variables set and not' accepts
began=$(now)
check 'the shop starts as documented, and shows its voucher' says '"stock":1000' documented Start
note "started after $(since "$began") s"
check 'tokens come as documented' documented 'Get tokens'
first_order() {
    says ' accepted  ' documented Order && has_orders 1 2 &&
        [ "$(sql 'SELECT count(*) FROM tb_voucher_order WHERE voucher_id = 1 AND user_id = 7')" = 1 ]
}
check 'a user orders, and so do others with wrk, as documented' first_order
issued 1 1000
check 'an operator makes a voucher as documented' says '"id":"2"' documented 'Make a voucher'
issued 2 500
check 'the front can be watched as documented' says 'haproxy_server_status' documented Watch
check 'and so can a replica, with the admin token' \
    says '^seckill_orders_total' documented Watch

hardened() {
    local id bad=0
    for id in $(containers postgres redis redlock-1 zookeeper seckilld front); do
        docker inspect "$id" | python3 -c '
import json, sys
c = json.load(sys.stdin)[0]
h = c["HostConfig"]
ports = [p for ps in (h["PortBindings"] or {}).values() for p in ps]
facts = {
    "comes back": h["RestartPolicy"]["Name"] == "unless-stopped",
    "read-only": h["ReadonlyRootfs"],
    "no capabilities": h["CapDrop"] == ["ALL"] and not h["CapAdd"],
    "no new privileges": any("no-new-privileges" in o for o in h["SecurityOpt"] or []),
    "not root": c["Config"]["User"] not in ("", "0", "root"),
    "memory": 0 < h["Memory"] <= 2 << 30,
    "processes": 0 < (h["PidsLimit"] or 0) <= 4096,
    "log": "max-size" in h["LogConfig"]["Config"],
    "loopback": all(p["HostIp"] == "127.0.0.1" for p in ports),
    "one port": len(ports) == (1 if "_front_" in c["Name"].replace("-", "_") else 0),
}
wrong = [name for name, holds in facts.items() if not holds]
if wrong:
    sys.exit(c["Name"] + ": not so: " + ", ".join(wrong))' || bad=1
    done
    return $bad
}
check 'every container is bounded and has no more rights than it needs' hardened
no_way_out() {
    ! docker exec "$(container seckilld)" timeout 5 bash -c '</dev/tcp/1.1.1.1/80' 2>/dev/null &&
        ! docker exec "$(container front)" timeout 5 bash -c '</dev/tcp/postgres/5432' 2>/dev/null
}
check 'a replica does not reach the outside, nor the front the stores' no_way_out

state_of_shop() {
    containers postgres redis redlock-1 redlock-2 redlock-3 redlock-4 redlock-5 zookeeper seckilld front
    sql 'SELECT voucher_id, stock, version FROM tb_seckill_voucher ORDER BY 1;
         SELECT count(*), max(id) FROM tb_voucher_order'
}
unchanged() {
    local before
    before=$(state_of_shop)
    compose up -d >/dev/null 2>&1 && diff <(printf '%s\n' "$before") <(state_of_shop)
}
check 'a second start changes nothing' unchanged
check 'and the tokens are good after it' sells_to 1 2

# --- an order that was sent ----------------------------------------------------------

# hold TABLE MODE: lock the table until release is called.
hold() {
    mkfifo "$work/hold"
    docker exec -i "$(container postgres)" psql -qAtX -U seckill_lab -d seckill <"$work/hold" >/dev/null 2>&1 &
    exec 8>"$work/hold"
    echo "BEGIN; LOCK TABLE $1 IN $2 MODE;" >&8
    soon is_held "$1"
}
is_held() {
    [ "$(sql "SELECT count(*) FROM pg_locks WHERE relation = '$1'::regclass AND granted
        AND mode IN ('AccessExclusiveLock', 'ShareRowExclusiveLock')")" -gt 0 ]
}
release() { exec 8>&-; rm -f "$work/hold"; }
# Print the replica whose connection waits for that lock.
waiting_replica() {
    local address
    address=$(sql "SELECT host(client_addr) FROM pg_stat_activity
        WHERE usename = 'seckill_service' AND wait_event_type = 'Lock' LIMIT 1")
    for id in $(containers seckilld); do
        docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' "$id" |
            grep -qwF "${address:-none}" && echo "$id" && return
    done
    return 1
}
has_waiting() { waiting_replica >/dev/null; }

# cut COMMAND...: start the command, kill the replica that works on it, and print the command's
# output.
cut_short() {
    local replica
    "$@" >"$work/answer" &
    asking=$!
    soon has_waiting || return 1
    replica=$(waiting_replica)
    signal KILL "$replica"
}
post_is_sent_once() {
    if hold tb_seckill_voucher 'SHARE ROW EXCLUSIVE' && cut_short order 2 2 40; then
        wait "$asking" # answered while the lock is held: no other replica works on it
    fi
    release
    cat "$work/answer"
    grep -q '^502 unknown' "$work/answer" || return 1
    soon has_replicas 2 && [ "$(sql 'SELECT count(*) FROM tb_voucher_order WHERE voucher_id = 2 AND user_id = 2')" = 0 ]
}
# Of six GETs at once the front gives some to the replica that has just stopped.
get_is_sent_again() {
    local id answers=() n
    id=$(container seckilld)
    signal STOP "$id"
    for n in {1..6}; do
        get 40 >"$work/get-$n" &
        answers+=("$!")
    done
    wait "${answers[@]}"
    signal CONT "$id"
    [ "$(cat "$work"/get-? | tee /dev/stderr)" = 200200200200200200 ] && soon has_replicas 2
}
check 'an order whose replica dies is not sent to another: 502, unknown' post_is_sent_once
check 'a GET whose replica stands still is sent to another: 200' get_is_sent_again

# --- under load ----------------------------------------------------------------------

voucher=$(new_voucher)
start_probe
start_load "$voucher" 600
check 'wrk orders' soon has_orders "$voucher" 100

# calm SINCE: no GET of the honest client failed for longer than two seconds.
calm() {
    local said
    said=$(probed "$1")
    echo "$said" | tee -a "$work/times"
    awk -F 'longest failure ' '{exit !($2 + 0 <= 2)}' <<<"$said"
}
replica_dies() {
    local began id before
    began=$(now)
    id=$(container seckilld) before=$(restarts "$(container seckilld)")
    signal KILL "$id" && soon has_restarted "$id" "$before" &&
        back 'a killed replica is back and ready' "$began" has_replicas 2 && calm "$began"
}
check 'a replica that dies comes back by itself, and no GET fails for 2 s' replica_dies
replica_is_killed() {
    local began
    began=$(now)
    docker kill "$(container seckilld 2)" >/dev/null
    back 'one of two replicas was found dead' "$began" has_replicas 1 &&
        compose restart front >/dev/null 2>&1 && soon is_open || return 1
    began=$(now)
    compose up -d >/dev/null 2>&1
    back 'up brought it back' "$began" has_replicas 2 && calm "$began"
}
check 'the front starts anew beside a dead replica, and up brings that back' replica_is_killed
replica_stops() {
    local began id
    id=$(container seckilld) began=$(now)
    signal STOP "$id"
    back 'a stopped replica was left out' "$began" has_replicas 1 || return 1
    calm "$began" || return 1
    began=$(now)
    signal CONT "$id"
    back 'a continued replica was used again' "$began" has_replicas 2
}
check 'a replica that stands still is left out until it goes on' replica_stops

buyer=100
store_dies() {
    local service=$1 began id before
    id=$(container "$service") before=$(restarts "$(container "$service")") began=$(now)
    signal KILL "$id" && soon has_restarted "$id" "$before" &&
        back "after the death of $service an order was accepted" "$began" sells_to "$buyer" 2
}
for store in postgres redis redlock-1 zookeeper front; do
    check "after the death of $store the shop sells again by itself" store_dies "$store"
    buyer=$((buyer + 1))
done
stop_load
probed_in_all() { probed 0 >>"$work/times"; }
probed_in_all
check 'wrk can say of each order what became of it' ledger_is_whole

# --- scale ---------------------------------------------------------------------------

voucher=$(new_voucher)
start_load "$voucher" 600
processes() { sql "SELECT count(DISTINCT process) FROM tb_voucher_order WHERE voucher_id = $voucher"; }
have_sold() { [ "$(processes)" -ge "$1" ]; }
scale_up() {
    local began
    began=$(now)
    documented Scale >/dev/null 2>&1
    back 'four replicas sell, counted from the command' "$began" have_sold 4 && calm "$began"
}
scale_down() {
    local began
    began=$(now)
    compose up -d --scale seckilld=1 >/dev/null 2>&1
    back 'one replica is left, counted from the command' "$began" has_replicas 1 && calm "$began"
}
check 'four replicas all get orders' scale_up
check 'one replica is enough' scale_down
stop_load
check 'wrk can say of each of these orders too' ledger_is_whole
gone_replicas() { compose up -d >/dev/null 2>&1 && soon has_replicas 2; }
check 'up without --scale goes back to two' gone_replicas

# --- users who click twice, while the locks are lost ------------------------------------

voucher=$(new_voucher)
start_load "$voucher" 600 32 one_per_user
buyer=$((buyer + 1))
double_clicks() {
    soon has_orders "$voucher" 20 &&
        store_dies redis
}
check 'users who click twice buy while Redis is lost' double_clicks
stop_load
check 'wrk can say of each of these clicks too' ledger_is_whole
check 'nothing was lost, invented, oversold or bought twice with the defaults' audit

# --- another lock --------------------------------------------------------------------

fenced() {
    documented 'Choose a lock' && soon is_open && voucher=$(new_voucher) && echo "$voucher" >"$work/voucher" &&
        soon sells_to 90 2
}
check 'a fenced shop comes up as documented, and sells' fenced
voucher=$(<"$work/voucher")
start_load "$voucher" 600
check 'it sells under load' soon has_orders "$voucher" 100
stop_load
fence_counts() {
    local rows
    rows=$(sql "SELECT DISTINCT lock_variant, stock_guard, fence IS NOT NULL FROM tb_voucher_order WHERE voucher_id = $voucher")
    echo "$rows"
    [ "$rows" = 'fenced|fence|t' ]
}
check 'every order of it has a fence, which the row compared' fence_counts
check 'and its orders add up' audit
note "$(sql "SELECT count(*) FROM tb_voucher_order") orders in all"

stops() { documented Stop >/dev/null 2>&1 && [ -z "$(docker ps -aq --filter "name=$COMPOSE_PROJECT_NAME")" ] &&
    [ -z "$(docker volume ls -q --filter "name=$COMPOSE_PROJECT_NAME")" ]; }
check 'it stops as documented and leaves nothing behind' stops
