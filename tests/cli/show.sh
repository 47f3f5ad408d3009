#!/bin/bash
# SPDX-License-Identifier: MIT
# show.sh -- `seckill show` with an address on which it cannot listen.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 3
lab=$work/lab
labs+=("$lab")
mkdir "$work/runs" "$work/runs/earlier"
ln -s earlier "$work/runs/latest"

# A page that is served by mistake would not end by itself.
show() { timeout 120 "$seckill" show --dir="$lab" --out="$work/runs" "$@"; }
check 'what is no address gives 64, before a server is started' \
    says '--listen must be HOST:PORT with one IPv4 address .*, not "foo"' status 64 show --listen=foo
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
taken() { says 'cannot listen on 127[.]0[.]0[.]1:[0-9]+' status 69 show --listen="127.0.0.1:${SECKILL_REDIS_URL##*:}"; }
check 'a port that is taken gives 69' taken
check 'neither leaves a directory, and latest stays' \
    test "$(ls "$work/runs") $(readlink "$work/runs/latest")" = $'earlier\nlatest earlier'
done_testing
