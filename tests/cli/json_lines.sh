#!/bin/bash
# SPDX-License-Identifier: MIT
# json_lines.sh -- the last of the JSON lines is `end` with the exit status, also if a command ends
# before its first run, and standard error has only errors with --quiet.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 12
lab=$work/lab
labs+=("$lab")
touch "$work/file"

# ends COMMAND...: does the command fail, and is `end` with its exit status its last line? The
# directory in that line exists.
ends() {
    local got=0 dir
    "$seckill" "$@" --json-lines --quiet >"$work/lines" 2>"$work/errors" || got=$?
    cat "$work/lines" "$work/errors"
    dir=$(tail -n 1 "$work/lines" | jq -r '.dir // empty')
    [ "$got" -ne 0 ] && [ -d "${dir:-/}" ] &&
        test "$(tail -n 1 "$work/lines" | jq -r '"\(.event) \(.exit)"')" = "end $got"
}
story=(run nested --locks=lua)
check 'a load whose lab cannot be made has an end' ends load --dir="$work/file" --out="$work/runs"
check 'so has a bench' ends bench --dir="$work/file" --out="$work/runs"
check 'a comparison' ends compare --dir="$work/file" --out="$work/runs"
check 'scenarios' ends scenario "${story[@]}" --dir="$work/file" --out="$work/runs"
check 'and a matrix' ends matrix --locks=lua --dir="$work/file" --out="$work/runs"

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
small() { "$seckill" compare --dir="$lab" --out="$work/runs" --locks=lua --experiments=oversell --hazards=calm --repeats=1 "$@"; }
small --quiet --json-lines >"$work/lines" 2>"$work/errors"
check 'a comparison with --quiet that is as expected writes nothing to standard error' test ! -s "$work/errors"
check 'and ends with 0' test "$(tail -n 1 "$work/lines" | jq -r '"\(.event) \(.exit) \(.as_expected)"')" = 'end 0 1'
check 'without --quiet the last line says so' says '^seckill compare: exit 0: 1 cell is as expected$' small
check 'locks that are named twice are compared once' says '^1 of 1 cells as expected' status 0 small --quiet --locks=lua,lua

# A directory whose name is not UTF-8, which JSON cannot have.
odd=$work/$'a\xff'
"$seckill" load --dir="$lab" --out="$odd" --stock=10 --processes=2 --connections=1 --json-lines --quiet >"$work/lines"
"$seckill" scenario run nested --locks=lua --dir="$lab" --out="$odd" --json-lines --quiet >"$work/story"
fields() { tail -n "$2" "$1" | jq -r "select(.event == \"$3\") | \"$4\""; }
clean=$work/a'\\xff'
check 'a run in a directory that is not UTF-8 has its fields' \
    says "^$clean/[^/]* true$" fields "$work/lines" 2 run '\(.dir) \(.verdict.valid)'
check 'so has an end' says "^0 1 $clean/[^/]*$" fields "$work/story" 1 end '\(.exit) \(.as_expected) \(.dir)'
check 'a run names the connections that it has, one for each process at least' \
    test "$(fields "$work/lines" 2 run '\(.run)')" = '2 processes, 2 connections'
done_testing
