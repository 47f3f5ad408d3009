#!/bin/sh
# SPDX-License-Identifier: MIT
# start.sh -- the command of the service's container: starts seckilld with the stock guard that its
# lock needs, and with its addresses as names of the listener for operators.
#
# The number of `fenced` protects the stock only if the voucher's row compares it, and numbers
# are comparable only with a lock per voucher. Either variable may have another value.
set -eu
if [ "${SECKILL_LOCK:-}" = fenced ]; then
    export SECKILL_LOCK_SCOPE="${SECKILL_LOCK_SCOPE:-voucher}"
    export SECKILL_STOCK_GUARD="${SECKILL_STOCK_GUARD:-fence}"
fi
# Prometheus finds each replica by its address, and asks for it by that address.
addresses=$(hostname -I | tr ' ' '\n' | grep -E '^[0-9.]+$' | paste -sd, -)
[ -z "$addresses" ] || export SECKILL_ADMIN_HOST="${SECKILL_ADMIN_HOST:+$SECKILL_ADMIN_HOST,}$addresses"
exec seckilld "$@"
