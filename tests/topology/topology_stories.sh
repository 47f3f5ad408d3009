#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_stories.sh -- the stories of Sentinels, clusters, ensembles, etcds and standbys, each with one or two locks, on
# servers that the command starts itself; `seckill scenario run topologies` runs them with every lock.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 19
stories=(sentinel-failover sentinel-partition sentinel-acknowledged old-master-returns leader-killed split-ensemble
    expired-in-ensemble promotion-lost promotion-kept cluster-failover cluster-takeover slots-move
    frozen-in-etcd waiter-outlives-leader)

tell() { status 0 "$seckill" scenario run "$1" "--locks=$2" --out="$work/runs" --dir="$work/lab"; }
named() { "$seckill" scenario list --no-pager | grep -c '; run by its name or with .topologies., not by .all.'; }
check 'the list says of each that all does not run it' test "$(named)" -ge "${#stories[@]}"
no_topology_in_matrix() {
    says 'unknown|no scenario|must be|among' status 64 "$seckill" matrix --scenarios=leader-killed --seeds=1 --out="$work/runs"
}
check 'the matrix has none of them' no_topology_in_matrix
check 'after a fail-over the holder is told, and nobody else is let in' tell sentinel-failover reentrant
check 'a lock that no replica had is held twice, and the fence refuses the older write' tell sentinel-partition fenced
check 'a grant that no replica acknowledged is given back' tell sentinel-acknowledged lua,reentrant
check 'an old master that is back grants nothing' tell old-master-returns owner
check 'a replica of a cluster that is promoted grants nobody a lock that it has copied' tell cluster-failover reentrant
check 'a lock that the replica did not have is held twice, and the fence refuses the older write' tell cluster-takeover fenced
check 'a slot that moves takes its lock along' tell slots-move fair,lua
check 'a dead leader takes no lock along' tell leader-killed zk-basic,zk-seq
check 'a holder whose ensemble is silent counts its own time' tell split-ensemble zk-basic,zk-seq
check 'an ended session is fenced off' tell expired-in-ensemble zk-basic,zk-seq
check 'a lease that ended under a new leader is fenced off' tell frozen-in-etcd etcd
check 'a place in the queue of an etcd outlives its leader' tell waiter-outlives-leader etcd
check 'a standby that never had an order loses it' tell promotion-lost pg-unique,pg-row
check 'a standby that was waited for keeps it' tell promotion-kept pg-fair,pg-advisory
both_standbys() {
    status 0 "$seckill" scenario run topologies --locks=pg-advisory --out="$work/runs" --dir="$work/lab"
}
check 'both stories of a standby are told in one lab' both_standbys
check 'a story is not about a lock in another store' \
    status 64 "$seckill" scenario run leader-killed --locks=reentrant --out="$work/runs" --dir="$work/lab"
no_servers_left() { ! pgrep -f "$work/runs" >/dev/null; }
check 'no server is left' soon no_servers_left
done_testing
