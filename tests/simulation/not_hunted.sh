#!/bin/bash
# SPDX-License-Identifier: MIT
# not_hunted.sh -- print why the simulation is not to find the patches of tests/mutants that have no
# line `Hunted-by:`.
#
# A line of the output is "<tab>NAME<tab>REASON" for a patch with a line `Not-hunted: REASON`, and
# "REASON<tab>NAME" for a patch of a file that is not simulated, or that judges the simulation.
# MUTANTS_DIR=DIR is the directory of the patches.
# Exit: 0 each patch has a reason, 1 not, 70 there are no patches.
set -euo pipefail
cd "$(dirname "$0")/../.."
patches=("${MUTANTS_DIR:-tests/mutants}"/*.patch)
status=0
[ -e "${patches[0]}" ] || { echo "not_hunted: there is no ${patches[0]}" >&2 && exit 70; }

header() { sed -n "/^diff /q; s/^$2: *//p" "$1"; }
touched() { sed -n 's|^diff --git a/.* b/||p' "$1"; }

# reason_of FILE: print why no change of this file is hunted; nothing if each patch has to give its
# reason.
reason_of() {
    # shellcheck disable=SC2016  # the backquotes are those of markdown
    case $1 in
    loadtest/check/*) echo 'the rules of `seckill check`, which judge the simulation' ;;
    loadtest/*) echo 'the rules of the audit and the laboratory, which judge the simulation' ;;
    db/audit.c) echo 'how the audit reads PostgreSQL, in place of which the simulation reads its model' ;;
    base/redis/cluster*) echo 'the view of a Redis Cluster, which is not simulated' ;;
    base/postgres/* | lock/stores/postgres* | lock/variants/pg_*) echo 'the locks on PostgreSQL and its wire, which are not simulated' ;;
    lock/stores/etcd*) echo 'the lock on etcd, which is not simulated' ;;
    lock/stores/zookeeper*) echo 'the lock on ZooKeeper, which is not simulated' ;;
    lock/variants/local.c) echo 'the lock within a process, which the simulation plays in sales without guards alone' ;;
    app/routes.c | app/exchange.c) echo 'the HTTP of the service, which is not simulated' ;;
    app/* | db/* | lua/stream_*) echo 'sales, for which no hunt has been written' ;;
    esac
}

for patch in "${patches[@]}"; do
    [ -z "$(header "$patch" Hunted-by)" ] || continue
    name=$(basename "$patch" .patch)
    own=$(header "$patch" Not-hunted)
    reason=$(reason_of "$(touched "$patch" | head -n 1)")
    if [ -n "$own" ]; then
        printf '\t%s\t%s\n' "$name" "$own"
    elif [ -n "$reason" ]; then
        printf '%s\t%s\n' "$reason" "$name"
    else
        echo "not_hunted: $name has neither a line Hunted-by: nor a line Not-hunted:" >&2
        status=1
    fi
done
exit "$status"
