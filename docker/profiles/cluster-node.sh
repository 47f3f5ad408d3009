#!/bin/sh
# SPDX-License-Identifier: MIT
# cluster-node.sh -- a node of the Redis Cluster of the profile `cluster`.
#
# The node's file has its number and its slots, and no keys. If a master that died was started again
# at once, it would own its slots without their locks, and its replica would become empty too. So it
# waits until the other nodes have given its slots to its replica.
set -eu
me=$(hostname)
nodes=/data/nodes.conf

# still_owns ID: does another node answer that ID has slots?
still_owns() {
    for peer in cluster-1 cluster-2 cluster-3 cluster-4 cluster-5 cluster-6; do
        [ "$peer" != "$me" ] || continue
        known=$(timeout 1 redis-cli -h "$peer" CLUSTER NODES 2>/dev/null) || continue
        echo "$known" | awk -v id="$1" '$1 == id && NF > 8 {found = 1} END {exit !found}'
        return
    done
    return 1
}

if [ -s "$nodes" ]; then
    id=$(awk '/myself/ {print $1; exit}' "$nodes")
    tries=0
    # A master without a living replica keeps its slots, so the wait has a limit.
    while [ "$tries" -lt 30 ] && still_owns "$id"; do
        sleep 0.5
        tries=$((tries + 1))
    done
fi
exec redis-server --save '' --appendonly no --protected-mode no --dir /data \
    --maxmemory 128mb --maxmemory-policy noeviction \
    --cluster-enabled yes --cluster-node-timeout 2000 --cluster-config-file "$nodes"
