#!/bin/bash
# SPDX-License-Identifier: MIT
# lab_keeper.sh -- a command that starts labs in the directory of its run is killed by SIGKILL, while
# servers start or while a performance breaks them: no server goes on, and no data stays.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 8
chmod a+x "$work"
mkdir -m 1777 "$work/data"
export SECKILL_LAB_DATA=$work/data

# Every server works in the directory of its lab, or of its data; the other processes have the
# directory of the run in their arguments.
nobody_works() {
    local link
    for link in /proc/[0-9]*/cwd; do
        [[ $(readlink "$link") != "$work"/* ]] || return 1
    done
    ! pgrep -f "$work/runs" >/dev/null
}
nothing_left() { [ -z "$(ls -A "$work/data")" ] && [ -z "$(find "$work/runs" -name 'lab-*')" ]; }
starts() { compgen -G "$work/runs/*/lab-2/redis.log" >/dev/null; }
performs() { [ -n "$(find "$work/runs" -name story.txt)" ]; }
has_performed() { grep -Eq ', [1-9][0-9]* of [0-9]+ performances done' "$work/killed.log"; }

ended_or() { gone "$1" || "${@:2}"; }

# killed WHOM MOMENT... -- COMMAND...: run the command, and kill it at that moment, alone or with its
# process group.
killed() {
    local whom=$1 pid moment=()
    shift
    while [ "$1" != -- ]; do moment+=("$1") && shift; done
    shift
    rm -rf "$work/runs"
    mkdir "$work/runs"
    setsid "$@" >"$work/killed.txt" 2>"$work/killed.log" &
    pid=$!
    own "$pid"
    soon ended_or "$pid" "${moment[@]}"
    ! gone "$pid" || { cat "$work/killed.log" && return 1; }
    if [ "$whom" = group ]; then kill -KILL -- "-$pid"; else send KILL "$pid"; fi || return 1
    wait "$pid"
    soon nobody_works && soon nothing_left
}
matrix=("$seckill" matrix --dir="$work/none" --out="$work/runs" --labs=2 --seeds=60
    "--scenarios=paused-server,restart-empty" "--locks=lua,naive")
stories=("$seckill" scenario run failover --locks=lua --dir="$work/none" --out="$work/runs")
check 'a matrix is killed while its servers start' killed alone starts -- "${matrix[@]}"
check 'a matrix is killed while it breaks servers' killed alone performs -- "${matrix[@]}"
check 'a matrix is killed after it has broken servers' killed alone has_performed -- "${matrix[@]}"
check 'a matrix is killed with its process group' killed group performs -- "${matrix[@]}"
begins() { compgen -G "$work/runs/*/lab-1/env" >/dev/null; }
check 'a single story is killed' killed alone begins -- "${stories[@]}"

# The lock of a lab is held by another process while the command removes the lab after Ctrl-C.
locked() {
    local pid held lock got=0
    rm -rf "$work/runs"
    mkdir "$work/runs"
    setsid "${matrix[@]}" --labs=1 >"$work/killed.txt" 2>"$work/killed.log" &
    pid=$!
    own "$pid"
    soon ended_or "$pid" performs
    held=$(realpath "$work/runs/latest/lab-1")
    exec {lock}>>"$held/lock" && soon flock -n "$lock" || return 1
    send INT "$pid"
    wait "$pid" || got=$?
    cat "$work/killed.log"
    echo "exit status $got"
    [ "$got" -eq 130 ] && [ -e "$held/state.json" ] &&
        grep -q 'another seckill command' "$work/killed.log"
}
freed() { soon nobody_works && soon nothing_left; }
check 'a lab whose lock another process has is not forgotten' locked
check 'and is removed as soon as its lock is free' freed

ends() { status 0 "${stories[@]}" && nobody_works && nothing_left; }
check 'a story that ends leaves nothing, and no process that waits' ends
done_testing
