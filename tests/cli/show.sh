#!/bin/bash
# SPDX-License-Identifier: MIT
# show.sh -- `seckill show` with an address on which it cannot listen.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 6
lab=$work/lab
labs+=("$lab")
mkdir "$work/runs" "$work/runs/earlier"
ln -s earlier "$work/runs/latest"

# A page that is served by mistake would not end by itself.
show() { timeout 120 "$seckill" show --dir="$lab" --out="$work/runs" "$@"; }
check 'what is no address gives 64, before a server is started' \
    says '--listen must be HOST:PORT with one IPv4 address .*, not "foo"' status 64 show --listen=foo
check 'an address that is not of loopback needs a name: 64' \
    says 'not of loopback: say with --host=NAME' status 64 show --listen=0.0.0.0:0
check 'which is one name' says '--host must be one name' status 64 show --host='a,*'
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
taken() { says 'cannot listen on 127[.]0[.]0[.]1:[0-9]+' status 69 show --listen="127.0.0.1:${SECKILL_REDIS_URL##*:}"; }
check 'a port that is taken gives 69' taken
check 'neither leaves a directory, and latest stays' \
    test "$(ls "$work/runs") $(readlink "$work/runs/latest")" = $'earlier\nlatest earlier'
serves_its_host() {
    local pid at code=0
    show --listen=0.0.0.0:0 --host=shop.example >"$work/said" 2>"$work/errors" &
    pid=$!
    soon grep -q '^open  *http://shop.example:' "$work/said" || code=1
    at=127.0.0.1:$(sed -n 's|^open .*shop.example:\([0-9]*\)/.*|\1|p' "$work/said")
    says 'HTTP/1.1 200' curl -sI -H 'Host: shop.example:80' "http://$at/" &&
        says 'HTTP/1.1 421' curl -sI "http://$at/" || code=1
    kill -INT "$pid" && wait "$pid"
    return "$code"
}
check 'the page answers that Host alone, not the one of loopback either' serves_its_host
done_testing
