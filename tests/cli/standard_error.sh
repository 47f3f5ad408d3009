#!/bin/bash
# SPDX-License-Identifier: MIT
# standard_error.sh -- a service whose standard error is not read, or was closed by its parent, sells
# as ever.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 11
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
"$seckill" seed --users=9 --stock=100 >/dev/null
mapfile -t tokens < <(cut -d' ' -f2 "$lab/tokens.txt")

start() { exec "$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 --log-level=debug; }
orders() { sed -n 's,.* orders=\(http[^ ]*\).*,\1,p' "$work/out"; }
is_ready() { [ -n "$(orders)" ]; }
# The service logs a line of the trace at the level debug.
order() {
    curl -sf -m 60 -X POST -H "authorization: ${tokens[$1]}" \
        -H 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' "$(orders)/voucher-order/seckill/1"
}

# The test keeps the FIFO open and fills it before the service starts.
mkfifo "$work/log"
exec {unread}<>"$work/log"
dd if=/dev/zero of="$work/log" bs=64 count=100000 oflag=nonblock 2>"$work/filled"
check 'the log is full' grep -q 'temporarily unavailable' "$work/filled"
start >"$work/out" 2>"$work/log" &
service=$!
own "$service"
check 'a service whose log is not read becomes ready' soon is_ready
check 'it sells' says '"success":true' order 0
check 'and again' says '"success":true' order 1
dd if="$work/log" of=/dev/null bs=65536 iflag=nonblock 2>/dev/null
check 'after somebody has read it sells' says '"success":true' order 2
tells_lost() {
    local line
    while read -r -t 60 -u "$unread" line; do
        [[ ! $line =~ [1-9][0-9]*\ lines\ of\ the\ log\ are\ lost ]] || return 0
    done
    return 1
}
check 'and the log says how many lines are lost' tells_lost
dd if=/dev/zero of="$work/log" bs=64 count=100000 oflag=nonblock 2>/dev/null
kill -TERM "$service"
wait "$service"
check 'it stops at a signal while nobody reads' test $? -eq 0

# A program without descriptors 0 and 2 would give their numbers to its connections.
rm "$work/out" # it has the address of the service before
start >"$work/out" 2>&- <&- &
service=$!
own "$service"
check 'a service without standard input and error becomes ready' soon is_ready
stands_for_null() {
    local fd
    for fd in 0 2; do [ "$(readlink "/proc/$service/fd/$fd")" = /dev/null ] || return 1; done
}
check 'neither is a connection' stands_for_null
check 'it sells' says '"success":true' order 3
kill -TERM "$service"
wait "$service"
check 'and stops' test $? -eq 0
done_testing
