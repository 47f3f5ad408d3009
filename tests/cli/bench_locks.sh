#!/bin/bash
# SPDX-License-Identifier: MIT
# bench_locks.sh -- checks what `seckill bench-locks` measures and prints, and no speed.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 24
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1

port() { "$seckill" lab status --dir "$lab" | sed -n "s/^$1 .*127.0.0.1:\([0-9]*\).*/\1/p"; }
pid() { "$seckill" lab status --dir "$lab" | sed -n "s/^$1 .* pid \([0-9]*\).*/\1/p"; }
REDISCLI_AUTH=$(sed -n 's|.*REDIS_URL=.*redis://default:\(.*\)@.*|\1|p' "$lab/env")
export REDISCLI_AUTH

# bench PART [OPTION...]: run one short round; its table is in $work/PART, its JSON in
# $work/out/latest. A missed threshold is no failure of the test.
bench() {
    local part=$1 status=0
    shift
    "$seckill" bench-locks --only="$part" --rounds=1 --duration=50ms --dir "$lab" \
        --out "$work/out" "$@" >"$work/$part" 2>"$work/$part.log" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || {
        echo "exit status $status"
        cat "$work/$part.log"
        return 1
    }
    said_so "$work/$part" "$status"
}
# The exit status is 3 if and only if a threshold was missed.
said_so() {
    if grep -q '^  "missed": 0' "$work/out/latest/bench-locks.json"; then
        ! grep -q MISSED "$1" && [ "$2" -eq 0 ]
    else
        [ "$2" -eq 3 ]
    fi
}

# rows FILE WANTED PATTERN FIRST LAST: do WANTED lines fit the pattern, with columns FIRST to LAST
# above zero?
rows() {
    cat "$1"
    awk -v wanted="$2" -v pattern="$3" -v first="$4" -v last="$5" '
        $0 ~ pattern {n++; for (i = first; i <= last; i++) if (!($i > 0)) bad = 1}
        END {exit bad || n != wanted}' "$1"
}

touch "$work/monitor"
redis-cli -p "$(port redis)" monitor >"$work/monitor" 2>&1 &
monitor=$!
own "$monitor"
soon grep -q OK "$work/monitor"
check 'pairs are measured' bench pairs --duration=500ms --markdown="$work/page.md" # none, where all stands still
send TERM "$monitor"
wait "$monitor" 2>/dev/null
# shellcheck disable=SC2016  # backquotes of Markdown
origin() {
    cat "$work/page.md"
    grep -Eq '^\| date \| 20[0-9-]+ [0-9:]+ UTC \|$' "$work/page.md" &&
        grep -Eq '^\| commit \| ([0-9a-f]{12}|version)' "$work/page.md" &&
        grep -Eq '^\| machine \| .* processors \|$' "$work/page.md" &&
        grep -Eq '^\| load before \| [0-9.]+ threads ' "$work/page.md" &&
        grep -Eq '^\| command \| `seckill bench-locks --only=pairs .*`' "$work/page.md"
}
# shellcheck disable=SC2016
same_table() { sed -n '/^```text/,/^```$/p' "$work/page.md" | sed '1d;$d' | diff - <(sed '/./,$!d; /^report: /d' "$work/pairs"); }
check 'the page says when, of which commit, where and with which command' origin
check 'and has the table of the terminal' same_table
check 'for two locks and four numbers of threads, each beside three others' \
    rows "$work/pairs" 8 '^(lua|reentrant) .* \(' 3 5
check 'each line has a target' \
    rows "$work/pairs" 8 '^(lua|reentrant) .* [12]\.[0-5] (reached|MISSED)$' 3 5

# Each library sends the same four commands; only tokens, owners and numbers differ.
shapes() {
    sed -nE '/\[9 127.* "bench:pairs:/{
        s/^[^"]*//; s/bench:pairs:[0-9]+/NAME/g; s/"[0-9a-f]{32}"/TOKEN/
        s/"[0-9a-f-]{36}:[0-9]+"/OWNER/; p}' "$work/monitor" | sort | uniq -c
}
same_commands() {
    shapes
    [ "$(shapes | wc -l)" -eq 4 ]
}
check 'the blocking connections send what the locks send' same_commands

check 'one thread with many calls in flight is measured' bench async
check 'for two locks and five numbers in flight, each beside its limit' \
    rows "$work/async" 7 '^(lua|reentrant) .* \(' 3 4
check 'the targets are those of 64 and 256 in flight' \
    rows "$work/async" 2 '^lua +(64|256) .*(0.75|1.00) (reached|MISSED)$' 3 4

check 'a hot name is measured' bench hot --duration=1s # a JVM that warms up
check 'for three locks and more, in round trips' \
    rows "$work/hot" "$(("$("$seckill" locks | grep -cE '^(zk-seq|etcd) ')" + 3))" \
    '^(reentrant|fair|zk-seq|etcd|pg-advisory) .*(reached|MISSED)$' 2 3
check 'and fair that is handed over beside fair that is not' \
    grep -Eq '^fair handed over 64 times, beside fair: [0-9.]+ times' "$work/hot"
check 'releases without a waiting thread are measured' bench later
check 'beside those that are waited for, for two locks' \
    rows "$work/later" 6 '^(lua|reentrant) ' 3 5
check 'redlock is measured' bench redlock
check 'with a target for 64 threads' \
    rows "$work/redlock" 1 '^ +64 .* 4\.5 (reached|MISSED)$' 2 3
check 'with its calls while one node hangs' \
    rows "$work/redlock" 2 '^(acquire|release) .*(reached|MISSED)$' 2 3
check 'renewals over a slow link are measured' bench renewals
check 'and the holds that were lost' \
    rows "$work/renewals" 1 '^reentrant .* (reached|MISSED)$' 2 3
check 'no key of the measured locks is left in Redis' test \
    "$(redis-cli -p "$(port redis)" -n 9 dbsize)" = 0

state() { sed -nE 's/^State:[[:space:]]*(.).*/\1/p' "/proc/$1/status"; }
is_stopped() { [ "$(state "$1")" = T ]; }
runs() { ! is_stopped "$1"; }
# The bench is killed while it has stopped a node. On a busy machine too few nodes may answer, and
# the bench then ends before that.
killed() {
    local node bench
    node=$(pid redlock-3)
    for _ in 1 2 3; do
        "$seckill" bench-locks --only=redlock --rounds=1 --duration=2s --dir "$lab" \
            --out "$work/out" >/dev/null 2>"$work/killed" &
        bench=$!
        own "$bench"
        soon stopped_or_gone "$node" "$bench" || return 1
        ! is_stopped "$node" || break
    done
    is_stopped "$node" || { sed 's/^/# /' "$work/killed" && return 1; }
    send KILL "$bench"
    wait "$bench" 2>/dev/null
    soon runs "$node"
}
stopped_or_gone() { is_stopped "$1" || gone "$2"; }
check 'a bench that is killed leaves no node stopped' killed

printed_as_kept() {
    bench redlock --json && diff "$work/redlock" "$work/out/latest/bench-locks.json"
}
check '--json prints what is kept' printed_as_kept
check 'an unknown part is a usage error' status 64 "$seckill" bench-locks --only=pears
check 'without redis-benchmark it says that a program is missing' \
    status 69 env PATH=/nowhere "$seckill" bench-locks --only=pairs --rounds=1 \
    --duration=50ms --dir "$lab" --out "$work/out"
done_testing
