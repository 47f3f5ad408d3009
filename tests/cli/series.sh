#!/bin/bash
# SPDX-License-Identifier: MIT
# series.sh -- what `seckill bench`, `seckill scenario` and `seckill matrix` show while they run: on
# a terminal, in a log, and for programs.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
unset NO_COLOR
plan 25
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
mkdir "$work/watched"
PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/support/series.py" "$seckill" "$lab" "$work/watched" "$work/results" &
watcher=$!
own "$watcher"
wait "$watcher"
check 'the watcher came to its end' test $? -eq 0
while read -r state what; do
    check "$what" test "$state" = ok
done <"$work/results"
done_testing
