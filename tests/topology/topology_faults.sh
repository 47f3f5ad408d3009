#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_faults.sh -- faults of the leader of a topology: each fault names the old and the new leader, and
# leaves the topology whole.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 37
lab=$work/lab
labs+=("$lab")

fault() { "$seckill" fault run "$@" --dir "$lab"; }
stands() { status 0 "$seckill" lab status --dir "$lab"; }
# with_part PART: print the server of the lab that has that part.
with_part() { "$seckill" lab status --dir "$lab" | sed -n "s/^\([a-z0-9-]*\) .* up, $1\$/\1/p"; }

check 'a lab comes up' "$seckill" lab up --ensemble --dir "$lab"
check 'a fault of a topology that is not there says how to get it' \
    says 'seckill lab up --sentinel' status 64 fault promote
check 'the lab gets it' "$seckill" lab up --sentinel --dir "$lab"

# moves FAULT PART: the fault breaks the leader, and another server becomes the leader.
moves() {
    local name=$1 part=$2 before
    before=$(with_part "$part")
    says "^begun +$before: .*; [a-z]+-[1-3] takes its place after [0-9]+ ms" status 0 fault "$name" --for=500ms &&
        [ "$(with_part "$part")" != "$before" ]
}
for name in promote pause-master partition; do
    check "$name gives the master's place to another" moves "$name" master
    check "$name leaves the topology whole" stands
done
check 'kill-leader gives the leader'"'"'s place to another' moves kill-leader leader
check 'kill-leader leaves the topology whole' stands

replica=$(with_part replica | head -n 1)
check 'a replica is not the master' \
    says "^seckill: $replica: it is not the leader now; watched-[1-3] is" status 1 fault promote "--server=$replica"
check 'a server of the core has no master beside it' \
    says 'is not for that server; it can be made on: watched-1 watched-2 watched-3$' status 64 \
    fault promote --server=redis

# The stopped server goes on when the command of the fault is killed.
"$seckill" fault run pause-master --for=60s --dir "$lab" >"$work/out" 2>&1 &
own $!
paused=$!
check 'pause-master begins' soon grep -q '^begun' "$work/out"
send KILL "$paused"
check 'and what it stopped goes on when the command is killed' soon stands

# With one Sentinel of three there is no majority that may name another master.
for i in 1 2; do "$seckill" lab kill "sentinel-$i" --dir "$lab" >/dev/null; done
refused() { says 'it is not the leader now; no server is' status 1 fault pause-master "--server=$(with_part master)"; }
check 'without a majority of Sentinels no server is the leader, which is said' refused
for i in 1 2; do "$seckill" lab restart "sentinel-$i" --dir "$lab" >/dev/null; done
check 'with all of them the topology stands' soon stands

check 'the lab gets a Redis Cluster' "$seckill" lab up --cluster --dir "$lab"
# leads: print the master of the slot of the key "scenario", which a node names.
leads() {
    local url login port
    url=$(sed -nE "s|.*SECKILL_LAB_CLUSTER_URL='?([^']*)'?$|\1|p" "$lab/env")
    login=${url#*://:} port=${url#*@127.0.0.1:}
    port=$(REDISCLI_AUTH=${login%%@*} redis-cli -p "${port%%,*}" GET scenario | sed -nE 's/.*MOVED.*:([0-9]+)$/\1/p')
    "$seckill" lab status --dir "$lab" | sed -nE "s/^(cluster-[0-9]) .*:$port .*/\1/p"
}
moves_slot() {
    local name=$1
    says "^begun +$(leads): .*; cluster-[1-6] takes its place after [0-9]+ ms" status 0 \
        fault "$name" "--server=$(leads)" --for=500ms
}
for name in reshard kill-leader pause-master promote takeover; do
    check "$name gives the place of the master in a cluster to another" moves_slot "$name"
done
check 'and the cluster is whole' stands
other=$(with_part master | grep '^cluster-' | grep -v "^$(leads)$" | head -n 1)
check 'another master of the cluster is not the leader' \
    says "^seckill: $other: it is not the leader now; $(leads) is" status 1 fault reshard "--server=$other"

# Many keys make the move of a slot long enough to interrupt the fault in its middle.
keys=1500
login=$(sed -nE "s|.*SECKILL_LAB_CLUSTER_URL='?redis-cluster://:([^@]*)@.*|\1|p" "$lab/env")
ports=$("$seckill" lab status --dir "$lab" | sed -nE 's/^cluster-[0-9] .*:([0-9]+) .*/\1/p')
first=$(head -n 1 <<<"$ports")
cluster() { REDISCLI_AUTH=$login redis-cli -p "$@"; }
open_moves() { for port in $ports; do cluster "$port" CLUSTER NODES | grep -E 'myself.*\[[0-9]+-'; done; }
is_moving() { [ -n "$(open_moves)" ]; }
is_closed() { [ -z "$(open_moves)" ]; }
has_all_keys() { [ "$(for port in $ports; do cluster "$port" DBSIZE; done | awk '{n += $1} END {print n}')" -ge $((2 * keys)) ]; }
fill_slot() { for i in $(seq "$keys"); do echo "SET {scenario}$i x"; done | cluster "$first" -c; }
check 'the slot of the leader gets many keys' fill_slot
check 'which its replica gets too' soon has_all_keys
# interrupts SIGNAL STATUS: send the signal to the fault while a slot moves; the fault ends with that status.
interrupts() {
    local fault
    "$seckill" fault run reshard --for=60s --dir "$lab" >"$work/out" 2>&1 &
    fault=$!
    own "$fault"
    if soon is_moving && send "$1" "$fault" && status "$2" wait "$fault"; then return 0; fi
    cat "$work/out"
    return 1
}
check 'the fault ends as interrupted where it is asked to in the middle of a slot' interrupts TERM 130
check 'and no slot is left in the middle' is_closed
check 'and the cluster is whole with all its keys' eval 'soon stands && soon has_all_keys'
check 'the fault is killed in the middle of a slot' interrupts KILL 137
check 'which leaves the slot there' is_moving
check 'and the next run ends the move' \
    says 'armed +slot [0-9]+, whose move an earlier program left open, is at cluster-[1-6] now' status 0 \
    fault reshard --for=100ms
check 'and no slot is left in the middle, nor a key lost' eval 'is_closed && soon has_all_keys'

check 'the lab gets an etcd' "$seckill" lab up --etcd --dir "$lab"
member=$(with_part leader | grep '^etcd-')
check 'kill-leader gives the place of the leading member to another' \
    says "^begun +$member: .*; etcd-[1-3] takes its place after [0-9]+ ms" status 0 \
    fault kill-leader "--server=$member" --for=500ms
check 'kill-leader leaves the etcd whole' stands
done_testing
