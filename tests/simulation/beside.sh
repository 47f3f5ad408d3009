#!/bin/bash
# SPDX-License-Identifier: MIT
# beside.sh SIMULATE SEQUENCES FROM -- start a private redis-server, and play random sequences of
# commands to the server and to the simulation's model.
set -euo pipefail
dir=$(mktemp -d)
redis-server --port 0 --unixsocket "$dir/redis" --save '' --appendonly no --dir "$dir" >"$dir/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT
until redis-cli -s "$dir/redis" ping 2>/dev/null | grep -q PONG; do
    kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 69; }
    sleep 0.05
done
"$1" --beside="$dir/redis" --seeds="$2" --from="$3"
