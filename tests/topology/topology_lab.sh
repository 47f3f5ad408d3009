#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_lab.sh -- a lab with topologies: each can be started with a new lab and added to a running one, reports
# its broken servers, restarts a killed server, and leaves nothing behind.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"

# FLAG SERVERS NAME PART: the number of servers that the flag adds; the server that is killed, and its part before.
topologies='
sentinel 6 watched-1 master
ensemble 3 ensemble-2 follower|leader
cluster 6 cluster-5 replica
standby 1 standby standby
sync-standby 1 synced standby
pgbouncer 2 pgbouncer-2 pool_mode.transaction
etcd 3 etcd-2 follower|leader
'
plan $((8 + 8 * $(grep -c . <<<"$topologies")))
core=7
lab=$work/lab
labs+=("$lab")

remember() {
    mapfile -t lab_pids < <(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$lab/state.json")
    mapfile -t lab_ports < <(sed -n 's/.*"port": \([0-9]*\).*/\1/p' "$lab/state.json")
}
has_servers() { remember && [ ${#lab_pids[@]} -eq "$1" ]; }
nothing_left() { soon gone "${lab_pids[@]}" && closed "${lab_ports[@]}" && [ ! -e "$lab" ]; }
# variable FLAG: does the env file have the address of the topology?  Standbys are hosts in the URL of the database.
variable() {
    case $1 in
    *standby) grep -c "^export SECKILL_DATABASE_URL='.*,127.0.0.1:[0-9]*/seckill?target_session_attrs=read-write'$" "$lab/env" ;;
    *) grep -cE "^export SECKILL_LAB_${1^^}_URLS?='..*'$" "$lab/env" ;;
    esac
}
pid_of() { "$seckill" lab status --dir "$lab" | sed -n "s/^$1 .*pid \([0-9]*\) .*/\1/p"; }
stands() { status 0 "$seckill" lab status --dir "$lab"; }
whole_message() { says "^--$1 is not whole: " status 69 "$seckill" lab status --dir "$lab"; }

check 'a lab comes up' "$seckill" lab up --dir "$lab"
check 'without topologies' has_servers "$core"

# A start that fails ends its servers and deletes their data.
mkdir "$work/ends"
printf '#!/bin/sh\necho "no room here" && exit 1\n' >"$work/ends/redis-server"
chmod +x "$work/ends/redis-server"
with_bad_redis() { PATH=$work/ends:$PATH "$seckill" lab up --sentinel --dir "$lab"; }
check 'a server that ends at once is told with its last words' says 'no room here' status 69 with_bad_redis
check 'and the lab is as it was' has_servers "$core"

flags=()
all=$core
while read -r flag servers killed part; do
    [ -n "$flag" ] || continue
    flags+=("--$flag")
    all=$((all + servers))
    check "--$flag: a lab that is up gets it" says '^seckill: starting ' status 0 \
        "$seckill" lab up "--$flag" --dir "$lab"
    check "--$flag: it has $servers servers more" has_servers "$all"
    check "--$flag: the environment has the address" variable "$flag"
    check "--$flag: status tells the parts" \
        says "^$killed +127.0.0.1:[0-9]+ +pid [0-9]+ +up, ($part)$" status 0 "$seckill" lab status --dir "$lab"
    check "--$flag: $killed is killed" says "^killed: $killed" "$seckill" lab kill "$killed" --dir "$lab"
    check "--$flag: status tells that it is not whole" whole_message "$flag"
    check "--$flag: $killed starts again" says "^restarted: $killed" "$seckill" lab restart "$killed" --dir "$lab"
    check "--$flag: and the topology stands again" soon stands
done <<<"$topologies"

remember
data=$(sed -n 's/.*"data_root": "\(.*\)",/\1/p' "$lab/state.json")
down() { "$seckill" lab down --dir "$lab" && [ ! -e "$data" ]; }
check 'down ends all of them' down
check 'and leaves nothing' nothing_left
new_lab() { "$seckill" lab up "${flags[@]}" --dir "$lab" && has_servers "$all" && stands; }
check 'a new lab has all of them at once' new_lab
check 'a standby that nobody named is promoted' says '^begun .* is the primary after ' status 0 \
    "$seckill" fault run promote-standby --dir "$lab"
done_testing
