#!/bin/bash
# SPDX-License-Identifier: MIT
# pause_storm.sh -- clients that stop for longer than their lease: losses are counted, the fence and
# the guards that need no lock lose nothing, and a storm that was too short for a loss does not
# pass.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 25
lab=$work/lab
labs+=("$lab")

storm() { "$seckill" scenario run pause-storm "$@" --dir "$lab" --out "$work/runs"; }
# row LOCK GUARD: print its numbers of the table: updates, lost
row() { awk -v lock="$1" -v guard="$2" '$1 == lock && $2 == guard {print $3, $4}' "$table"; }
updates() { [ "$(row "$1" "$2" | cut -d' ' -f1)" -ge "$3" ]; }
loses_nothing() { [ "$(row "$1" "$2" | cut -d' ' -f2)" = 0 ]; }
loses() { [ "$(row "$1" "$2" | cut -d' ' -f2)" -gt 0 ]; }
lacks() { ! grep -q "$1" "$2"; }
# The same seed draws the same pauses.
pauses() { grep -Eo '[A-Z][a-z]+ stops' "$1/story.txt"; }
same_pauses() {
    pauses "$work/runs/latest/pause-storm-lua" >"$work/a" && [ -s "$work/a" ] &&
        pauses "$work/runs/latest/pause-storm-pg-row" | cmp -s - "$work/a"
}

"$seckill" scenario list >"$work/list.txt"
check 'the list names it' grep -Eq '^S33 +pause-storm' "$work/list.txt"
check 'and says how long it takes' grep -q 'measured: 120 s for each lock; run by its name only' \
    "$work/list.txt"
check 'a story has no duration' status 64 "$seckill" scenario run wrong-delete --duration=3s
check 'all stories together have no duration' status 64 "$seckill" scenario run all --duration=3s
# Without a lock only a storm is performed with this guard.
check 'the measurement is no part of all' status 64 "$seckill" scenario run all --locks=none --guard=version

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
table=$work/table.txt
storm --locks=lua,fenced,none,pg-row --duration=12s --seed=3 --html="$work/storm.html" \
    >"$table" 2>"$work/news.txt"
ended=$?
# Chance decides whether a pause hits a holder in so short a time; exit status 2 says that there is
# no verdict.
check 'the measurement comes to an end' test "$ended" -eq 0 -o "$ended" -eq 2
check 'the published figure stands beside it' grep -q 'about 18 % of the acknowledged' "$table"
check 'the fence loses nothing' loses_nothing fenced fence
check 'of some updates' updates fenced fence 2
check 'that is as expected' grep -Eq '^fenced +fence .*  as expected' "$table"
for guard in conditional version row-lock; do
    check "no lock is needed with $guard" loses_nothing none "$guard"
done
check 'of many updates' updates none conditional 20
check 'without lock and guard much is lost' loses none read-write
check 'a connection that stays open loses nothing' loses_nothing pg-row read-write
lua_is_told() {
    if loses lua read-write; then
        grep -Eq '^lua +read-write .*  as expected' "$table"
    else
        grep -Eq '^lua +read-write .*  unknown  nothing was lost' "$table" && [ "$ended" = 2 ]
    fi
}
check 'a lease loses updates, or nobody can tell' lua_is_told
check 'no outcome is unexpected' lacks UNEXPECTED "$table"
check 'each lock has the same pauses' same_pauses
summary=$work/runs/latest/summary.json
check 'the table is left for programs' test "$(grep -c '"lock":' "$summary")" -eq 8
check 'with what was paused' test "$(grep -Ec '"pauses": [1-9]' "$summary")" -eq 8
check 'and for people' grep -Eq '^\| .fenced. \| .fence. \| [0-9]+ \| 0 \| 0.0 % \|' \
    "$work/runs/latest/summary.md"
check 'the page has what was counted' grep -q 'acknowledged updates lost' "$work/storm.html"
# The first pause is after five seconds, and this lock renews its lease.
calm=$work/calm.txt
short() { storm --locks=reentrant --duration=3s >"$calm" 2>&1; }
check 'a run too short to lose an update is no pass' status 2 short
check 'which is said' grep -q 'nothing was lost; it took less than its full length' "$calm"
"$seckill" lab down --dir "$lab" >/dev/null
done_testing
