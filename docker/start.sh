#!/bin/sh
# SPDX-License-Identifier: MIT
# start.sh -- what the service's container runs: seckilld, with the guard that its lock
# needs, and with its addresses as names of the listener for operators.
#
# fenced gives every holder a number that grows.  The number protects the stock only if
# the voucher's row compares it, which is --stock-guard=fence, and the numbers of one row
# are comparable only under a lock per voucher.  seckilld leaves every switch alone, since
# it shows what each of them does; a shop wants what belongs together.  Either variable
# may be set to something else.
set -eu
if [ "${SECKILL_LOCK:-}" = fenced ]; then
    export SECKILL_LOCK_SCOPE="${SECKILL_LOCK_SCOPE:-voucher}"
    export SECKILL_STOCK_GUARD="${SECKILL_STOCK_GUARD:-fence}"
fi
# Prometheus finds each replica by its address, and asks for it by that address.
addresses=$(hostname -I | tr ' ' '\n' | grep -E '^[0-9.]+$' | paste -sd, -)
[ -z "$addresses" ] || export SECKILL_ADMIN_HOST="${SECKILL_ADMIN_HOST:+$SECKILL_ADMIN_HOST,}$addresses"
exec seckilld "$@"
