#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_peers.sh -- checks what `make bench-peers` prints and verifies, and no speed: its help, its
# tables from fixed results, a run of this library alone, and a library whose locks exclude nobody.
# Nothing is downloaded.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
peers=$root/loadtest/peers/peers.py
python=$(python3 -c 'import sys; print(sys.executable)')

bench_peers() { "$peers" --out="$work/out" --cache="$work/cache" "$@"; }

# results OURS THEIRS FAILURES MISSING: print the results of two libraries on one name.
results() {
    cat <<END
{"head": {}, "slices": 3, "slice_ms": 1000, "processors": 2, "load": ["0.10", "0.20"],
 "versions": {"ours": "seckill 1", "redsync": "redsync 4"}, "service": [],
 "failures": [${3:-}], "missing": [${4:-}], "cells": [
  {"part": "hot", "in_flight": 64, "peer": "ours", "name": "ours fair:64 x2", "setting": "fair:64",
   "text": "threads", "file": "", "beside": "", "per_s": [$1]},
  {"part": "hot", "in_flight": 64, "peer": "redsync", "name": "redsync pool x2", "setting": "pool",
   "text": "goroutines", "file": "mutex.go", "beside": "fair:64", "per_s": [$2]}]}
END
}
# report STATUS PATTERN RESULTS...: check the report of these results.
report() {
    local wanted=$1 pattern=$2
    shift 2
    results "$@" >"$work/results.json"
    says "$pattern" status "$wanted" "$peers" --report="$work/results.json"
}

# ensemble OURS PEER THEIRS: print results of etcd beside one of its two peers, whose thresholds
# differ.
ensemble() {
    results "$1" "$3" | sed -e 's/"part": "hot"/"part": "ensemble"/; s/fair:64 x2/etcd/; s/fair:64/etcd/g' \
        -e "s/\"redsync\", \"name\": \"redsync pool x2\"/\"etcd\", \"name\": \"$2\"/" >"$work/results.json"
}
of_etcd() {
    local wanted=$1 pattern=$2
    ensemble "$3" "$4" "$5"
    says "$pattern" status "$wanted" "$peers" --report="$work/results.json"
}

# A fake redis-py that answers "locked" and asks no server. The driver writes `fetched` when its
# files are there.
make_liar() {
    local lib=$work/cache/redis-py/lib
    mkdir -p "$lib/redis/asyncio"
    cat >"$lib/redis/__init__.py" <<'END'
class Redis:
    from_url = classmethod(lambda cls, url: cls())
    lock = lambda self, *_, **__: self
    acquire = release = lambda self: None
END
    touch "$lib/redis/asyncio/__init__.py"
    printf '%s' "$(sha256sum <"$root/loadtest/peers/redis-py/requirements.txt" | cut -d' ' -f1)" \
        >"$work/cache/redis-py/fetched"
}
liar() { bench_peers --peers=redis-py --parts="$1" --slices=1 --slice=50; }
liar_is_seen() { cat "$work/liar" && grep -q '^FAILED: hot: redis-py threads x2' "$work/liar"; }
no_ours_failed() { cat "$work/liar" && ! grep -q 'FAILED: .*: ours' "$work/liar"; }

# Each exit status in its help is a row of the project's list.
statuses_are_listed() {
    local numbers number
    numbers=$("$peers" --help | sed -nE '/^exit status:/,$s/^  ([0-9]+) .*/\1/p')
    [ "$(wc -l <<<"$numbers")" -eq 7 ] || return 1
    for number in $numbers; do
        grep -q "^| $number |" "$root/docs/reference/exit-codes.md" || return 1
    done
}

plan 22
check 'its help names each peer' says 'redisson,redis-py,node-redlock' "$peers" --help
check 'its exit statuses are rows of the list' statuses_are_listed
check 'a peer that there is not: 64' status 64 bench_peers --peers=redison
check 'is answered with the names that there are' says 'there is no redison; there are redisson' \
    bench_peers --peers=redison
check 'a part that there is not: 64' status 64 bench_peers --parts=pears
check 'a number of slices that is none: 64' status 64 bench_peers --slices=0
check 'a file that is no results: 64' status 64 "$peers" --report="$peers"
check 'results without what they need: 64' \
    status 64 "$peers" --report=<(echo '{"cells": [{}], "failures": []}')
check 'ratios are of slices of one round' \
    report 0 '^ +64  redsync pool x2 .* 10\.0 \(8\.00 - 20\.0\) fair:64$' '100, 80, 200' '10, 10, 10'
check 'a limit that is reached: 0' \
    report 0 '^one name with hand-over: 10.0 .* redsync pool x2; at least 5 reached$' '100, 80, 200' '10, 10, 10'
check 'a limit that is missed: 3' \
    report 3 '^one name with hand-over: 4.00 .*; at least 5 MISSED$' '40, 40, 40' '10, 9, 20'
check 'a limit beside one peer is held to that peer' \
    of_etcd 3 '^etcd, 64 in flight: 0.70 .* times etcd session; at least 0.8 MISSED$' '70, 70, 70' 'etcd session' '100, 100, 100'
check 'as low as it is' \
    of_etcd 0 '^etcd, 64 in flight: 0.90 .* times etcd session; at least 0.8 reached$' '90, 90, 90' 'etcd session' '100, 100, 100'
check 'beside another peer it is another' \
    of_etcd 3 '^etcd, 64 in flight: 1.50 .* times etcd etcdctl; at least 2 MISSED$' '150, 150, 150' 'etcd etcdctl' '100, 100, 100'
check 'a program that failed: 1' report 1 '^FAILED: pairs: etcd session: it fell$' '1' '1' \
    '{"part": "pairs", "name": "etcd session", "reason": "it fell"}'
check 'a peer that is missing is named, with what installs it' \
    report 0 '^not measured: etcd: there is no go; to install: make deps' '10' '1' '' \
    '{"name": "etcd", "reason": "there is no go", "install": "make deps-bench-peers"}'
check 'without Node its peers are named, and nothing is fetched: 69' \
    says 'node-redlock is not measured: there is no node; to install: make deps-bench-peers' \
    status 69 env PATH=/nowhere "$python" "$peers" --fetch --peers=node-redlock \
    --cache="$work/cache"
check 'ours alone is measured, on one Redis and on five nodes' \
    says '^ +64  ours multi +[0-9]' status 0 bench_peers --peers=none --parts=pairs,nodes \
    --slices=1 --slice=50 --markdown="$work/page.md"
# shellcheck disable=SC2016  # backquotes of Markdown
check 'the page says with which command' grep -Eq '^\| command \| `loadtest/peers/peers.py .*--peers=none' "$work/page.md"
make_liar
check 'a library that takes no lock is found out by what the server counted: 1' \
    says '^FAILED: pairs: redis-py threads: [0-9]+ pairs were told, and the servers counted 0 times' \
    status 1 liar pairs
liar hot >"$work/liar" 2>&1
check 'on one name too' liar_is_seen
check 'beside it ours is sound' no_ours_failed
done_testing
