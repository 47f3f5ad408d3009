#!/bin/bash
# SPDX-License-Identifier: MIT
# faults.sh -- every fault of a server happens, which the test reads from the server
# directly, and is undone.  The history has the fault, and `seckill check` names the
# broken assumption.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 103
lab=$work/lab
labs+=("$lab")
records=$work/records
key=lock:voucher:1

check 'without a lab it says how to start one: 69' says 'seckill lab up' \
    status 69 "$seckill" fault run script-flush --dir="$lab"
"$seckill" lab up --zookeeper --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
REDISCLI_AUTH=$(sed -n 's/^requirepass //p' "$lab/redis.conf")
export REDISCLI_AUTH

fault() { "$seckill" fault "$@" --dir="$lab"; }
run() { fault run "$@" --record="$records"; }
port_of() { "$seckill" lab status --dir="$lab" | sed -n "s/^$1 .*:\([0-9]*\) .*/\1/p"; }
pid_of() { "$seckill" lab status --dir="$lab" | sed -n "s/^$1 .* pid \([0-9]*\) .*/\1/p"; }
declare -A port
for name in postgres redis redlock-1 redlock-2 redlock-3 redlock-4 redlock-5 zookeeper; do
    port[$name]=$(port_of "$name")
done
# ask SERVER COMMAND...: send a command to that Redis.
ask() {
    local server=$1
    shift
    timeout 30 redis-cli -p "${port[$server]}" "$@" 2>&1
}
answers() { [ "$(ask "$1" "${@:3}")" = "$2" ]; }
silent() { ! timeout 0.3 redis-cli -p "${port[$1]}" ping >/dev/null 2>&1; }
stopped() { grep -q '^State:.T' "/proc/$(pid_of "$1")/status"; }
dump() { # what ZooKeeper says of its sessions
    exec 3<>"/dev/tcp/127.0.0.1/${port[zookeeper]}" && printf dump >&3 && cat <&3
    exec 3>&-
}

# ---- what is refused ----
check 'the list has them all' test "$(fault list | grep -c '^[a-z]')" -eq "$(grep -c '^SERVER_FAULT' "$root/loadtest/fault/faults.def")"
check 'a name that is none: 64' says 'did you mean "script-flush"' \
    status 64 fault run script-flash
check 'a server of the wrong kind: 64' says 'can be made on: redis' \
    status 64 fault run script-flush --server=postgres
check 'a server that the lab has not: 64' says 'a server that this lab has' \
    status 64 fault run server-stop --server=redlock-9
check 'a lock that is not named: 64' says 'needs the name of a lock' status 64 fault run eviction
check 'a time that is none: 64' says 'such as 500ms' status 64 fault run clock --by=soon
check 'a time that is too long: 64' says 'within -86400000 and 86400000 ms' \
    status 64 fault run clock --by=25h
unmoved=$(pid_of redis)
check 'a clock that would not move: 64' says 'redis: clock needs a --by .* farther than 500 ms from 0, such as --by=30s' \
    status 64 fault run clock
check 'or hardly: 64' says 'such as --by=30s or --by=-1h; it is -500 ms$' status 64 fault run clock --by=-500ms
check 'and its server was not restarted' test "$unmoved" = "$(pid_of redis)"
check 'a time for a fault that has none: 64' says 'script-flush takes no --by' status 64 fault run script-flush --by=1s
check 'a key that is not there: 1' says 'take the lock first' \
    status 1 fault run redis-restart-empty --key=nothing
check 'a lock that no client takes: 1' says "^seckill: redis: no client took nothing within 10 s after the fault was armed" \
    status 1 fault run redis-failover --key=nothing
ask redis set taken 1 >/dev/null
check 'a lock that was taken before: 1' says 'its replica has taken already' status 1 fault run redis-failover --key=taken
check 'with what to do' says 'free the lock, and take the lock when the fault is armed' status 1 fault run redis-split-brain --key=taken
ask redis del taken >/dev/null
check 'a channel without a listener: 1' says 'there is none to cut' status 1 fault run kill-pubsub
ask redis set forever 1 >/dev/null
check 'a lock without an end is not evicted: 1' says 'has no end' \
    status 1 fault run eviction --key=forever
check '--help teaches' says 'seckill fault run redis-failover' "$seckill" fault --help

# ---- faults that last, all at once, each on a server of its own ----
declare -A going
# begin SERVER FAULT...: start the fault, which lasts until end_all.
begin() {
    local server=$1
    shift
    "$seckill" fault run "$@" --server="$server" --for=600s --dir="$lab" --record="$records" \
        >"$work/out-$server" 2>&1 &
    going[$server]=$!
    own "$!"
    soon grep -q '^begun' "$work/out-$server" || cat "$work/out-$server" >&2
}
has_begun() { says '^begun' cat "$work/out-$1"; }
ask redlock-5 set "$key" held px 600000 >/dev/null
ask redlock-2 set "$key" held px 20000 >/dev/null
before=$(ask redlock-5 info server | grep run_id)
begin redlock-1 server-stop
check 'server-stop begins' has_begun redlock-1
begin redlock-2 clock --by=30s
check 'clock begins' has_begun redlock-2
begin redlock-4 disk-full
check 'disk-full begins' has_begun redlock-4
begin redlock-5 server-kill --key="$key"
check 'server-kill begins' has_begun redlock-5
begin zookeeper server-stop
check 'server-stop of ZooKeeper begins' has_begun zookeeper
begin postgres server-stop
check 'server-stop of PostgreSQL begins' has_begun postgres
begin redis client-limit
check 'client-limit begins' has_begun redis
begin redlock-3 client-pause --by=10s
check 'a pausing Redis is silent' silent redlock-3
check 'client-pause begins' has_begun redlock-3
check 'a stopped Redis is stopped and silent' eval 'stopped redlock-1 && silent redlock-1'
check 'a clock is 30 s ahead' test \
    "$(($(ask redlock-2 time | head -1) - $(date +%s)))" -ge 29
check 'the lease of 20 s is over under that clock' answers redlock-2 0 exists "$key"
check 'a server with a full disk refuses writes' says '^MISCONF' ask redlock-4 set a 1
check 'a server at its client limit refuses another client' says 'max number|reset|closed' ask redis ping
check 'a killed one does not listen' closed "${port[redlock-5]}"
check 'a stopped ZooKeeper is stopped' stopped zookeeper
# Every process of it, not only the first; none of those that have just ended is reaped.
all_stopped() {
    local first pid
    first=$(pid_of postgres)
    for pid in $first $(pgrep -P "$first"); do
        grep -q '^State:.[TZ]' "/proc/$pid/status" || { cat "/proc/$pid/status" && return 1; }
    done
}
check 'PostgreSQL is stopped as a whole' all_stopped
check 'a server that is down: 69' says 'does not run' \
    status 69 fault run server-kill --server=redlock-5

# Ctrl-C ends the faults early, and they are undone all the same.
undone() {
    cat "$work/out-$1"
    grep -q '^ended' "$work/out-$1" && grep -qx 'exit status 130' "$work/out-$1"
}
for server in redlock-1 redlock-2 redlock-4 redlock-5 redis zookeeper postgres redlock-3; do
    send INT "${going[$server]}"
    wait "${going[$server]}"
    echo "exit status $?" >>"$work/out-$server"
    check "$server: Ctrl-C undoes it" undone "$server"
done
check 'the lab is up' "$seckill" lab status --dir="$lab"
check 'the clock is right again' test \
    "$(($(ask redlock-2 time | head -1) - $(date +%s)))" -le 1
check 'writes are taken again' answers redlock-4 OK set a 1
check 'a server whose limit was lifted lets others in' answers redis PONG ping
check 'a server that was killed came back with its data' answers redlock-5 held get "$key"
check 'as another process' test "$before" != "$(ask redlock-5 info server | grep run_id)"
check 'ZooKeeper answers' says '^Sessions' dump
check 'PostgreSQL answers' psql -qAt "$SECKILL_LAB_DATABASE_URL" -c 'SELECT 1'
no_files() { ! find "$lab" -maxdepth 1 -name '*.rdb' -o -maxdepth 1 -name '*.clock' | grep .; }
check 'no file is left of it' no_files

# ---- faults of an instant ----
hold_key() { ask redis set "$key" held px 600000 >/dev/null; }
ask redis del forever >/dev/null
hold_key
check 'eviction happens' says 'evicted_keys \+[1-9]' run eviction --key="$key"
check 'the key is gone, and nothing that filled' answers redis 0 dbsize
check 'the limit is what it was' says '^0$' ask redis config get maxmemory
hold_key
check 'redis-restart-kept happens' says 'from its append-only file' run redis-restart-kept --key="$key"
check 'and the server has the lock still' test "$(ask redis exists "$key")" = 1
check 'redis-restart-empty happens' says 'loaded 0' run redis-restart-empty --key="$key"
check 'the key is gone' answers redis 0 exists "$key"
script=$(ask redis script load 'return 1')
check 'script-flush happens' says 'was 1 and is 0' run script-flush
check 'another script is gone too' answers redis 0 script exists "$script"
ask_forever() { exec redis-cli -p "${port[redis]}" "$@"; }
ask_forever subscribe x >"$work/subscriber" 2>&1 &
subscriber=$!
ask_forever blpop nothing 0 >"$work/blocked" 2>&1 &
blocked=$!
own "$subscriber" "$blocked"
soon grep -q subscribe "$work/subscriber"
soon says '^1' eval 'ask redis info clients | sed -n "s/blocked_clients://p"' >/dev/null
check 'kill-pubsub happens' says '1 pubsub' run kill-pubsub
check 'the subscriber was disconnected' soon grep -q closed "$work/subscriber"
check 'and nobody else' test -e "/proc/$blocked"
check 'kill-clients happens' says '1 normal' run kill-clients
check 'the blocked client was disconnected' soon grep -q closed "$work/blocked"

touch "$work/failover"
run redis-failover --key="$key" >"$work/failover" 2>&1 &
failover=$!
own "$failover"
soon grep -q '^armed' "$work/failover"
check 'redis-failover says when to take the lock' soon grep -q "^ *now take $key, within 10 s" "$work/failover"
replica=$(sed -n 's/^armed .*127.0.0.1:\([0-9]*\) .*/\1/p' "$work/failover")
check 'its replica is a replica, and cut off' says '^master_link_status:down' \
    redis-cli -p "$replica" info replication
hold_key
wait "$failover"
check 'redis-failover happens when the key is there' test $? -eq 0
check 'its proof is told' grep -q 'role:master now, had master_link_status:down' "$work/failover"
check 'the key is gone' answers redis 0 exists "$key"
check 'the old address leads to the replica' says "master_failover_state|role:master" \
    ask redis info replication
check 'and that takes writes' answers redis OK set b 1
hold_key
check 'the new primary comes back with its append-only file, too' run redis-restart-kept --key="$key"
check 'and has the lock still' test "$(ask redis exists "$key")" = 1
ask redis del "$key" >/dev/null
check 'the new primary can be killed and come back with its data, as the one before' \
    run server-kill --server=redis --key=b --for=0s
check 'which is there' answers redis 1 get b

# A connection from before the fault stays with the old master.
exec 4<>"/dev/tcp/127.0.0.1/${port[redis]}"
on_old() {
    local said
    printf '%s\r\n' "$2" >&4
    read -r -t 5 said <&4 && echo "$said" && [ "${said%$'\r'}" = "$1" ]
}
on_old +OK "auth $REDISCLI_AUTH" >/dev/null
ask redis del "$key" >/dev/null
touch "$work/unlocked"
"$seckill" fault run redis-split-brain --key="$key" --dir="$lab" >"$work/unlocked" 2>&1 &
unlocked=$!
own "$unlocked"
soon grep -q '^armed' "$work/unlocked"
send INT "$unlocked"
wait "$unlocked"
check 'redis-split-brain is interrupted before anybody has the lock' test $? -eq 130
touch "$work/split"
"$seckill" fault run redis-split-brain --key="$key" --dir="$lab" --record="$records" >"$work/split" 2>&1 &
split=$!
own "$split"
soon grep -q '^armed' "$work/split"
hold_key
check 'redis-split-brain happens' soon grep -q 'both say role:master' "$work/split"
check 'the old master has the key' on_old :1 "exists $key"
check 'the new one has not' answers redis 0 exists "$key"
send INT "$split"
wait "$split"
exec 4>&-
check 'the old one gave in' grep -q '^ended.* is a replica of process' "$work/split"
check 'and the other one goes on' answers redis OK set b 2
check 'no file is left of that' no_files

session_holds() {
    psql -qAt "$SECKILL_LAB_DATABASE_URL" -c "SELECT count(*) FROM pg_locks
        WHERE locktype = 'advisory' AND granted" | grep -qx 1
}
psql -qAt "$SECKILL_LAB_DATABASE_URL" >"$work/session" 2>&1 <<SQL &
SELECT pg_advisory_lock(hashtextextended(encode('$key', 'escape'), 0));
SELECT pg_sleep(600);
SQL
own "$!"
soon session_holds
check 'postgres-kill-backend happens' says 'which held' run postgres-kill-backend --key="$key"
check 'the session is over' soon grep -q 'terminating connection' "$work/session"
check 'a key without a holder: 1' status 1 run postgres-kill-backend --key="$key"
as_service() { psql -qAt "$SECKILL_DATABASE_URL" -c 'SELECT 1'; }
"$seckill" fault run client-limit --server=postgres --for=600s --dir="$lab" --record="$records" \
    >"$work/full" 2>&1 &
full=$!
own "$full"
check 'client-limit of PostgreSQL happens' soon grep -q 'is told: too many connections' \
    "$work/full"
check 'the service is refused' says 'too many connections for role' as_service
check 'the laboratory is not' psql -qAt "$SECKILL_LAB_DATABASE_URL" -c 'SELECT 1'
send INT "$full"
wait "$full"
check 'and the service is let in again' as_service
started() { psql -qAt "$SECKILL_LAB_DATABASE_URL" -c 'SELECT pg_postmaster_start_time()'; }
before=$(started)
check 'postgres-restart-immediate happens' run postgres-restart-immediate
check 'PostgreSQL was started anew' test "$before" != "$(started)"
before=$(started)
check 'server-kill of PostgreSQL' run server-kill --server=postgres --for=0s
check 'PostgreSQL was started anew after server-kill' test "$before" != "$(started)"

# ---- the verdict of `seckill check` ----
"$seckill" seed --users=100 --stock=100 >"$work/seed"
voucher=$(sed -n 's/^voucher \([0-9]*\):.*/\1/p' "$work/seed")
key=lock:voucher:$voucher
mapfile -t tokens < <(cut -d' ' -f2 "$lab/tokens.txt")
declare -A orders=([a]=none [b]=none) admin=([a]=none [b]=none)
serve() { # NAME LOCK RECORDS
    rm -f "$work/ready-$1"
    touch "$work/ready-$1"
    "$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 --process="$1" --lock="$2" \
        --lock-scope=voucher --lock-lease=120s --lock-wait=30s --workers=4 --allow-faults --record="$3" \
        >"$work/ready-$1" 2>>"$work/log-$1" &
    serving[$1]=$!
    own "$!"
    soon grep -q '^ready' "$work/ready-$1" || {
        cat "$work/log-$1"
        return 1
    }
    orders[$1]=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready-$1")
    admin[$1]=$(sed -n 's/.*admin=\([^ ]*\).*/\1/p' "$work/ready-$1")
}
declare -A serving
order() {
    curl -sf -m 60 -X POST -H "authorization: ${tokens[$2]}" \
        "${orders[$1]}/voucher-order/seckill/$voucher"
}
is_held() { grep -q '"after-read":{"armed":[a-z]*,"holding":true' <<<"$(operator -sf "${admin[$1]}/faults")"; }
# first NAME USER: start an order that holds the lock, and is held in the middle of its work.
first() {
    operator -sf -o /dev/null -X POST "${admin[$1]}/faults/arm?point=after-read&action=hold&key=$key"
    order "$1" "$2" >/dev/null 2>&1 &
    soon is_held "$1"
}
# lose LOCK FAULT USER: the fault takes the lock from its holder, and the next user gets it.
lose() {
    serve a "$1" "$work/run-$1" && serve b "$1" "$work/run-$1" && first a "$3" &&
        "$seckill" fault run "$2" --key="$key" --dir="$lab" --record="$work/run-$1" &&
        order b "$(($3 + 1))" | grep '"success": *true'
    echo $? >"$work/lost-$1"
    operator -sf -o /dev/null -X POST "${admin[a]}/faults/release?point=after-read"
    send TERM "${serving[@]}"
    wait "${serving[@]}"
    cat "$work"/log-[ab]
}
was_lost() { cat "$work/lose" && grep -qx 0 "$work/lost-$1"; }
lose reentrant redis-restart-empty 0 >"$work/lose" 2>&1
check 'a restart of Redis takes the lock of a living holder' \
    was_lost reentrant
check 'and the store is what gave way' \
    says 'what did not hold: the store keeps what it has granted' \
    status 1 "$seckill" check "$work/run-reentrant"
lose zk-seq zookeeper-expire 2 >"$work/lose" 2>&1
check 'zookeeper-expire takes the session of a living holder' \
    was_lost zk-seq
check 'and the session is what gave way' \
    says 'what did not hold: the session of a living holder lasts' \
    "$seckill" check "$work/run-zk-seq"
serve a lua "$work/run-lua"
refuses() {
    operator -s -X POST "${admin[a]}/faults/arm?point=before-release&action=cut" |
        grep 'cannot cut; it can hold, stop and kill'
}
check 'a point that cannot cut refuses' refuses
# has_name NAME: in a record a name continues after 20 bytes, after the 8 bytes of a commit word.
has_name() {
    cat "$records"/laboratory-* |
        perl -0777 -e 'my ($head, $tail) = $ARGV[0] =~ /^(.{1,20})(.*)$/; my $all = <STDIN>;
            exit !($tail eq "" ? $all =~ /\Q$head\E/ : $all =~ /\Q$head\E.{8}\Q$tail\E/s)' "$1"
}
history_has() {
    local name
    for name in "$@"; do
        has_name "$name" || { echo "no $name" && return 1; }
    done
}
check 'the history has every fault that was made' history_has 'server-stop redlock-1' \
    'restart redlock-2' 'clock redlock-2' 'client-pause redlock-3' 'disk-full redlock-4' \
    'server-kill redlock-5' \
    'server-stop zookeeper' 'server-stop postgres' 'eviction redis' 'script-flush redis' \
    'redis-restart-kept redis' 'redis-restart-empty redis' 'kill-pubsub redis' 'kill-clients redis' 'redis-failover redis' \
    'redis-split-brain redis' 'client-limit redis' 'client-limit postgres' \
    'postgres-kill-backend postgres' 'postgres-restart-immediate'
done_testing
