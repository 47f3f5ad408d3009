#!/bin/sh
# SPDX-License-Identifier: MIT
# cluster-join.sh -- make the six nodes of the profile `cluster` one Redis Cluster.
#
# Nodes know each other by their IP addresses, and Docker may give them other addresses when all are
# started again. So the nodes of an existing cluster are told their present addresses.
set -eu
all='cluster-1 cluster-2 cluster-3 cluster-4 cluster-5 cluster-6'
addresses=
for node in $all; do
    address=$(getent hosts "$node" | awk '{print $1; exit}')
    [ -n "$address" ] || { echo "cluster-join: $node has no address" >&2 && exit 1; }
    addresses="$addresses $address"
done

if redis-cli -h cluster-1 CLUSTER INFO | grep -q '^cluster_known_nodes:1[^0-9]*$'; then
    places=
    for address in $addresses; do places="$places $address:6379"; done
    # shellcheck disable=SC2086  # a word for each
    redis-cli --cluster create $places --cluster-replicas 1 --cluster-yes
else
    for node in $all; do
        for address in $addresses; do
            redis-cli -h "$node" CLUSTER MEET "$address" 6379 >/dev/null
        done
    done
fi

for node in $all; do
    tries=0
    until known=$(timeout 2 redis-cli -h "$node" CLUSTER INFO) &&
        echo "$known" | grep -q 'cluster_state:ok' &&
        echo "$known" | grep -q 'cluster_known_nodes:6'; do
        tries=$((tries + 1))
        [ "$tries" -lt 60 ] || { echo "cluster-join: $node says: $known" >&2 && exit 1; }
        sleep 0.5
    done
done
