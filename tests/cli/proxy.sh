#!/bin/bash
# SPDX-License-Identifier: MIT
# proxy.sh -- the fault proxy, started by hand in front of a private Redis.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 17

socket=$work/redis.sock
redis-server --port 0 --unixsocket "$socket" --save '' --dir "$work" >/dev/null &
own "$!"
soon redis-cli -s "$socket" ping >/dev/null 2>&1

# begin FAULT...: start a proxy; $port and $proxy belong to it.
begin() {
    local flags=() fault
    for fault in "$@"; do flags+=("--fault=$fault"); done
    rm -f "$work/out" # of the proxy before, whose port is not this one's
    "$seckill" proxy --target="unix:$socket" --protocol=redis "${flags[@]}" \
        >"$work/out" 2>"$work/err" &
    proxy=$!
    own "$proxy"
    soon grep -qs '^127.0.0.1:' "$work/out" || return 1
    port=$(sed -n 's/^127.0.0.1:\([0-9]*\) .*/\1/p' "$work/out")
}
# Send Ctrl-C, or another signal, once; the exit status is then in $ended.
stop() {
    send "${1:-INT}" "$proxy"
    soon gone "$proxy" || send KILL "$proxy"
    wait "$proxy"
    ended=$?
}

begin 'cut to-client at to-server LOST' 'delay:1ms to-client at to-server NEVER'
check 'commands that no fault names pass' says '^PONG' redis-cli -p "$port" ping
redis-cli -p "$port" set LOST 1 >"$work/client" 2>&1
check 'the client hears no answer to the request' says 'reset|closed' cat "$work/client"
check 'but it was done' says '^1' redis-cli -s "$socket" exists LOST
check 'a fault is printed when it happens' \
    says 'ms  connection 2  cut to-client at to-server LOST' cat "$work/out"
stop
check 'a fault that never happened is exit status 1' [ "$ended" -eq 1 ]
check 'and the summary names it' says 'NEVER HAPPENED.*NEVER' cat "$work/out"
begin 'cut to-client at to-server LOST'
redis-cli -p "$port" echo LOST >/dev/null 2>&1
stop
check 'if all faults happened it is 0' [ "$ended" -eq 0 ]
begin
stop TERM
check 'the first SIGTERM ends the proxy' [ "$ended" -eq 0 ]
check 'and the summary is printed' says '^0 connections' cat "$work/out"
check 'a fault that is not understood is a usage error' status 64 \
    "$seckill" proxy --target="unix:$socket" --fault='hold to-client' --fault='hodl to-client'
check 'and says what was meant' says 'did you mean "hold"' \
    "$seckill" proxy --target="unix:$socket" --fault='hodl to-client'
check 'messages of raw bytes are refused' says 'raw bytes have no messages' \
    "$seckill" proxy --target="unix:$socket" --fault='drop:1 to-client'

# refused WORDS TARGET...: each target is a usage error, whose message has the words.
refused() {
    local words=$1 target
    shift
    for target; do
        says "$words" status 64 timeout 60 "$seckill" proxy --target="$target" || return 1
    done
}
check 'a port above 65535, 0, or no number is refused' refused 'a port from 1 to 65535' \
    127.0.0.1:99999 127.0.0.1:0 127.0.0.1:6379x 127.0.0.1: '[::1]:65536' localhost:redis
check 'a target of another form is refused' refused 'expected HOST:PORT or unix:PATH' foo :6379 '[]:6379' '[x[]:6379'
check 'and an IPv6 address without brackets, with an example' refused 'such as \[::1\]:6379' ::1:6379 '[::1:6379'
check 'so is a path that is empty' refused 'the path is empty' unix:
check '--help teaches' says 'seckill proxy --target=' "$seckill" proxy --help
done_testing
