# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154  # tap.sh sets work, root and seckill
# watched.sh -- commands that a program of this directory watches on a terminal.  Source tap.sh first.

# watch_by PROGRAM: run the program beside a lab of its own; one check for its exit status, and one
# for each line of its results.
watch_by() {
    local lab=$work/lab watcher state what
    labs+=("$lab")
    "$seckill" lab up --dir "$lab" >/dev/null || exit 1
    mkdir "$work/watched"
    PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/support/$1" "$seckill" "$lab" "$work/watched" "$work/results" &
    watcher=$!
    own "$watcher"
    wait "$watcher"
    check 'the watcher came to its end' test $? -eq 0
    while read -r state what; do
        check "$what" test "$state" = ok
    done <"$work/results"
}
