#!/bin/bash
# SPDX-License-Identifier: MIT
# matrix.sh -- a part of the matrix, which takes three minutes. The matrix can fail, the same seed
# gives the same result, and finished cells are kept if the run is interrupted.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 29
lab=$work/lab
labs+=("$lab")
# A lock of each store, and a lock without a store.
some=local,naive,lua,fenced,redlock,pg-advisory,zk-seq

matrix() { "$seckill" matrix --dir "$lab" --out "$work/runs" "$@"; }
# total NAME FILE: print a number of the totals.
total() { sed -nE '/"totals"/,/\}/s/.*"'"$1"'": ([0-9]+).*/\1/p' "$2"; }
lacks() { ! grep -Eq -- "$1" "$2"; }

check 'the list names a cell and what is expected' \
    says '^S4 +wrong-delete +naive +read-write +breaks' "$seckill" matrix --list
check 'the help teaches' says 'the report of' "$seckill" matrix --help
check 'a scenario that nobody knows is refused' says 'did you mean "wrong-delete"' \
    matrix --scenarios=wrong-deletes
check 'an unknown lock is refused' status 64 matrix --locks=naiv
check 'a part beyond the last is refused' status 64 matrix --part=3/2
check 'and too many parts, with the limit' says 'K <= N <= 1000' status 64 matrix --part=1/100000
check 'and a scenario without a lock that it is about' status 64 \
    matrix --scenarios=wrong-delete --locks=none

"$seckill" lab up --zookeeper --etcd-alone --dir "$lab" >/dev/null || exit 1
json=$work/runs/latest/matrix.json
# Oddities of a part stand below its table.
part() {
    matrix --locks=$some --seeds=1 --limit=100s >"$work/table" 2>"$work/progress" ||
        { grep -F '!' "$work/table"; sed '3,/^In each cell/d' "$work/table" && false; }
}
check 'a part of it is as expected' part
cp "$json" "$work/part.json"
page=$work/runs/latest/matrix.html
check 'the table has a broken cell and a sound one' grep -Eq '^wrong-delete .*breaks +holds' "$work/table"
check 'and the totals' grep -Eq '^[0-9]+ holds checked: ' "$work/table"
check 'the lines are as wide as a page' test "$(awk 'length > n {n = length} END {print n}' \
    <(sed -n '3,/^In each cell/p' "$work/table" | grep -Ev '^(unknown|UNEXPECTED| )'))" -le 80
check 'faults were injected' test "$(total faults "$work/part.json")" -gt 20
check 'a background load was beside every story' lacks '"crowd_holds": 0,' "$work/part.json"
check 'and had stalls to outlast, more than one each' test \
    "$(total crowd_stalls "$work/part.json")" -gt "$(total performed "$work/part.json")"
check 'the page asks no network for anything' test "$(grep -Ec '(src|href)="[a-z]*:' "$page")" -eq 0
check 'each cell leads to its performances' test "$(grep -Eo 'href="#cell-[0-9]+' "$page" |
    cut -d'#' -f2 | sort)" = "$(grep -Eo '<details id="cell-[0-9]+' "$page" | cut -d'"' -f2 | sort)"
check 'and names the command that performs a cell again' grep -q 'seckill matrix --scenarios=wrong-delete --locks=naive --guard=read-write --seed=1 --seeds=1' "$page"
check 'the records of what was as expected are gone' test "$(find "$work"/runs/latest/ -name '*.dlockrec' | wc -l)" -eq 0
relative() {
    (cd "$work" && "$seckill" matrix --dir "$lab" --out here --scenarios=wrong-delete \
        --locks=lua --seeds=1) && [ -z "$(find "$work/here" -name '*.dlockrec')" ]
}
check 'a relative path will do, too' relative

false_one() { matrix --scenarios=wrong-delete --locks=naive,lua --seeds=1 --expect=holds >"$work/false" 2>&1; }
check 'an expectation that is false is found' status 1 false_one
check 'and only that one' grep -q '^1 of 2 cells as expected, 1 UNEXPECTED' "$work/false"
check 'its records are kept for the checker' status 1 "$seckill" check \
    "$work/runs/latest/wrong-delete-naive-read-write-seed-1"
check 'and it is drawn' grep -q '<svg' "$work/runs/latest/wrong-delete-naive-read-write-seed-1/page.html"

# The records of a performance have its background load and the lease that its seed drew.
shape() {
    matrix --scenarios=ghost --locks=redlock --seed="$1" --seeds=1 --keep >/dev/null 2>&1 || return 1
    grep -E '^(lock|background load)' "$work/runs/latest/ghost-redlock-read-write-seed-$1/story.txt"
}
check 'a seed gives the same again' test "$(shape 7)" = "$(shape 7)" -a -n "$(shape 7)"
check 'and another seed another one' test "$(shape 7)" != "$(shape 8)"

stalls_are_recorded() {
    local kept=$work/runs/latest/ghost-redlock-read-write-seed-8
    "$seckill" check --json "$kept/crowd" >"$work/crowd.json"
    test "$(sed -nE 's/.*"faults": ([0-9]+).*/\1/p' "$work/crowd.json")" -ge 2
}
check "the stalls are in the records of the background load" stalls_are_recorded

cut_short() {
    local pid got=0
    "$seckill" matrix --dir "$lab" --out "$work/runs" --scenarios=nested,forked,ghost \
        --jobs=1 >"$work/cut.txt" 2>"$work/cut.log" &
    pid=$!
    own "$pid"
    soon grep -Eq ', [1-9][0-9]* of [0-9]+ performances done' "$work/cut.log" || return 1
    mapfile -t children < <(pgrep -P "$pid")
    send INT "$pid"
    wait "$pid" || got=$?
    cat "$work/cut.log" "$work/cut.txt"
    [ "$got" -eq 130 ] && soon gone ${children[@]+"${children[@]}"}
}
check 'Ctrl-C ends it' cut_short
check 'the table has the runs that ended before Ctrl-C' grep -Eq 'cut short after [1-9][0-9]* of' "$work/cut.txt"
check 'and in the reports' test "$(total performed "$json")" -gt 0
done_testing
