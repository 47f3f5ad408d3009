#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_cluster_laws.sh -- runs the laws of every lock for one Redis on a Redis Cluster of a lab.  Laws that
# start servers of their own, or that cut the only connection to a server, do not use the cluster.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
variants=(setnx naive owner watch getset lua lua-local reentrant spin fenced fair rwlock)
at_once=4
plan $((1 + ${#variants[@]}))
lab=$work/lab
labs+=("$lab")

check 'a lab with a cluster comes up' "$seckill" lab up --cluster --zookeeper --etcd-alone --dir "$lab"
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
export SECKILL_REDIS_URL=$SECKILL_LAB_CLUSTER_URL
keep_laws() { (cd "$root" && build/tests/conformance --only "$1: *") >"$work/$1" 2>&1; echo $? >"$work/$1.status"; }
export -f keep_laws
export root work
printf '%s\n' "${variants[@]}" | xargs -P "$at_once" -I{} bash -c 'keep_laws {}'
holds() { [ "$(cat "$work/$1.status")" = 0 ] || { grep -A3 -E '^(not ok|Bail)' "$work/$1" >&2; false; }; }
for variant in "${variants[@]}"; do
    check "$variant keeps its laws on a cluster" holds "$variant"
done
done_testing
