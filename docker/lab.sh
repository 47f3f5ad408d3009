#!/bin/bash
# SPDX-License-Identifier: MIT
# lab.sh [COMMAND...] -- the command of the laboratory's container: a command of seckill; `demo`, as
# `make demo`; `bash`; or `wrk` with its flags, against a seckilld that reads SECKILL_... as always.
set -euo pipefail
[ -w . ] || {
    echo "lab: user $(id -u) cannot write here; run as the owner of the directory:" \
        'LAB_USER=UID:GID docker compose ..., docker run --user=UID:GID ...' >&2 && exit 73; }
getent passwd "$(id -u)" >/dev/null ||
    { mkdir -p /tmp/users && echo "lab:x:$(id -u):1000::/tmp:/bin/bash" >/tmp/users/passwd; }
command=${1:-show} && shift $(($# > 0))
case $command in
demo) exec seckill compare --locks="$(</usr/local/share/seckill/demo)" "$@" ;;
bash) exec bash "$@" ;;
wrk)
    seckill lab up && eval "$(<"$SECKILL_LAB_DIR/env")"
    seckill seed --users=100000 --stock=1000
    seckilld >"$SECKILL_LAB_DIR/seckilld.log" &
    curl -fs --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8082/readyz
    mkdir -p runs && SECKILL_LEDGER_DIR=$(mktemp -d runs/wrk-XXXXXX) && export SECKILL_LEDGER_DIR
    # wrk takes the last of two equal flags.  A script of one's own may write no ledger.
    wrk -t2 -c64 -d3s --timeout 30s -s /usr/local/share/seckill/wrk/order.lua "$@" \
        http://127.0.0.1:8081
    kill %1 && wait %1
    rmdir "$SECKILL_LEDGER_DIR" 2>/dev/null || seckill audit "$SECKILL_LEDGER_DIR" ;;
*) exec seckill "$command" "$@" ;;
esac
