#!/bin/bash
# SPDX-License-Identifier: MIT
# full_disk.sh -- files that cannot be written because there is no room: 73, at once, and the file's
# name.  A limit of the size of files stands for the disk, because mounting one needs root.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 13
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"

# with_room KIB COMMAND...: no file that it writes gets larger.
with_room() { (ulimit -f "$1" && shift && exec "$@"); }
without_signal() { (trap '' XFSZ && "$@"); }

# It would ask for 30 s a store that has answered.
record() {
    local begin=$SECONDS
    says "cannot write the record $work/record/.*[.]dlockrec: File too large; make room on its disk" \
        status 73 without_signal with_room 64 "$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 --record="$work/record" &&
        [ $((SECONDS - begin)) -lt 20 ]
}
check 'a record without room: seckilld ends at once with 73, and names the file' record

# load_in KIB FLAG...: in a lab whose servers and tokens are there, with an empty directory of runs.
load_in() {
    local room=$1
    shift
    rm -rf "$work/runs" && mkdir "$work/runs"
    with_room "$room" "$seckill" load --dir="$lab" --out="$work/runs" --stock=1000 --connections=8 --quiet "$@"
}
"$seckill" load --dir="$lab" --out="$work/first" --stock=10 --connections=2 --quiet >/dev/null 2>&1
check 'a run whose settings have no room ends with 73' says 'cannot write .*: File too large' status 73 load_in 2
check 'a run whose orders have no room ends with 73' says 'cannot write .*/orders.tsv: File too large' status 73 load_in 64
check 'a run at a fixed rate too' says 'cannot write .*: File too large' status 73 load_in 32 --rate=1000 --duration=1s
check 'a run whose record has no room ends with 73' says 'cannot write the record .*: File too large' status 73 load_in 64 --record
# A bench makes more tokens, which have room here.
bench_in() {
    rm -rf "$work/runs" && mkdir "$work/runs"
    with_room "$1" "$seckill" bench --dir="$lab" --out="$work/runs" --duration=1s --repeats=1 --clients=16 --quiet
}
"$seckill" seed --dir="$lab" --users=200000 >/dev/null 2>&1
check 'a bench whose script has no room ends with 73, and names it' \
    says 'cannot write .*/order.pgbench: File too large' status 73 bench_in 0
check 'a bench whose settings have no room does, too' \
    says 'cannot write the settings of seckilld to .*: File too large' status 73 bench_in 2
compare_in() {
    with_room "$1" "$seckill" compare --dir="$lab" --out="$work/compared" --locks=lua --experiments=oversell \
        --hazards=calm --repeats=1 2>&1 | tee "$work/comparison"
}
check 'a comparison whose summary has no room ends with 73, and says why' \
    says 'cannot write .*/summary.json: File too large' status 73 compare_in 0
claims_nothing() { grep -q '^lua  *unknown' "$work/comparison" && ! grep 'kept in' "$work/comparison"; }
check 'and prints its table without the claim that the summary is kept' claims_nothing
# Not into a file, which would have no room either.
with_lines() { with_room 0 "$seckill" "$@" --dir="$lab" --json-lines 2>&1 | cat >"$work/both"; }
# The exit status is known only when the files are written.
has_end() { cat "$work/both"; test "$(grep '^{' "$work/both" | tail -n 1 | jq '.event == "end" and .exit == 73 and .not_done != null')" = true; }
with_lines compare --out="$work/compared" --locks=lua --experiments=oversell --hazards=calm --repeats=1
check 'with JSON lines the end of a comparison has that status' has_end
check 'and the last line gives the reason' \
    says '^seckill compare: exit 73: the summaries cannot be written to ' tail -n 1 "$work/both"
with_lines matrix --out="$work/matrix" --scenarios=nested --locks=lua --seeds=1
check 'the end of a matrix has that status, too' has_end
json_lines_on_full_disk() { "$seckill" load --dir="$lab" --out="$work/lines" --stock=10 --connections=2 --json-lines >/dev/full; }
check 'JSON lines without room end with 73' says 'cannot write standard output: No space left on device' status 73 json_lines_on_full_disk
done_testing
