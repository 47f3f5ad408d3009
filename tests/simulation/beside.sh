#!/bin/bash
# SPDX-License-Identifier: MIT
# beside.sh SIMULATE CLOCK SEQUENCES FROM -- start a private redis-server whose wall clock stands
# still (CLOCK is the library that holds the clock), and play random sequences of commands to the
# server and to the simulation's model.  Then plant three differences in the model, which have to
# be found.  The output is TAP.
set -euo pipefail
dir=$(mktemp -d)
export SIMULATE_CLOCK=$dir/clock
printf '\0\0\0\0\0\0\0\1' >"$SIMULATE_CLOCK"
LD_PRELOAD=$(realpath "$2") redis-server --port 0 --unixsocket "$dir/redis" --save '' --appendonly no \
    --enable-debug-command yes --dir "$dir" >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
until redis-cli -s "$dir/redis" ping 2>/dev/null | grep -q PONG; do
    kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 69; }
    sleep 0.05
done
failed=0 number=1
"$1" --beside="$dir/redis" --seeds="$3" --from="$4" >"$dir/out" || failed=1
sed 's/^/# /' "$dir/out"
[ "$failed" = 0 ] || printf 'not '
echo "ok 1 - the model answers as redis-server does in $3 sequences"
for plant in late-end ties lrem; do
    number=$((number + 1))
    if SIMULATE_PLANT=$plant "$1" --beside="$dir/redis" --seeds=3000 >"$dir/out"; then
        failed=1
        printf 'not '
    fi
    echo "ok $number - a difference that is planted in the model is found: $plant, $(tail -1 "$dir/out")"
done
echo 1..4
exit "$failed"
