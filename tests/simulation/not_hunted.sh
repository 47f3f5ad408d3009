#!/bin/bash
# SPDX-License-Identifier: MIT
# not_hunted.sh -- check that each patch of tests/mutants that changes simulated code has a line
# `Hunted-by:`, or says in a line `Not-hunted:` why the simulation is not to find it.
#
# MUTANTS_DIR=DIR is the directory of the patches.
# Exit: 0 each patch has such a line, 1 not, 70 there are no patches.
set -euo pipefail
cd "$(dirname "$0")/../.."
patches=("${MUTANTS_DIR:-tests/mutants}"/*.patch)
status=0
[ -e "${patches[0]}" ] || { echo "not_hunted: there is no ${patches[0]}" >&2 && exit 70; }

for patch in "${patches[@]}"; do
    case $(sed -n 's|^diff --git a/.* b/||p' "$patch" | head -n 1) in
    app/* | db/* | loadtest/* | lua/stream_* | base/postgres/* | base/redis/cluster*) continue ;;
    lock/stores/postgres* | lock/stores/etcd* | lock/stores/zookeeper*) continue ;;
    lock/variants/pg_* | lock/variants/local.c) continue ;;
    esac
    sed '/^diff /q' "$patch" | grep -cE '^(Hunted-by|Not-hunted): ' >/dev/null && continue
    echo "not_hunted: $(basename "$patch" .patch) has neither a line Hunted-by: nor a line Not-hunted:" >&2
    status=1
done
exit "$status"
