#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh -- two service processes, one of which has a slow thread: `seckill check` and its HTML
# timeline find the two holders of a naive lock, and find nothing with reentrant.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 57
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
voucher=$("$seckill" seed --users=100 --stock=100 | sed -n 's/^voucher \([0-9]*\):.*/\1/p')
key=lock:voucher:$voucher
mapfile -t tokens < <(cut -d' ' -f2 "$lab/tokens.txt")

# serve NAME LEASE: start a service process.
declare -A pid_of orders admin
serve() {
    "$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 --process="$1" \
        --lock=naive --lock-scope=voucher --lock-lease="$2" --lock-wait=30s \
        --log-level=debug --allow-faults --record="$records" >"$work/ready-$1" 2>>"$work/log-$1" &
    own "$!"
    pid_of[$1]=$!
    soon grep -q '^ready' "$work/ready-$1" || return 1
    orders[$1]=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready-$1")
    admin[$1]=$(sed -n 's/.*admin=\([^ ]*\).*/\1/p' "$work/ready-$1")
}
trace_of() { printf '4bf92f3577b34da6a3ce929d0e0e%04x' "$(($1 + 1))"; }
# order NAME USER: order at that process; fails unless the order was accepted. Each order has a
# trace of its own.
order() {
    curl -sf -m 60 -X POST -H "authorization: ${tokens[$2]}" \
        -H "traceparent: 00-$(trace_of "$2")-00f067aa0ba902b7-01" \
        "${orders[$1]}/voucher-order/seckill/$voucher" | grep -q '"success": *true'
}
arm() { operator -sf -o /dev/null -X POST "${admin[$1]}/faults/arm?point=after-read&action=hold&key=$key"; }
let_go() { operator -sf -o /dev/null -X POST "${admin[$1]}/faults/release?point=after-read"; }
is_held() { grep -q '"after-read":{"armed":[a-z]*,"holding":true' < <(operator -sf "${admin[$1]}/faults"); }
# slow_order NAME USER: start an order that is held while it holds the lock. The request ends with
# its service process at the latest.
slow_order() {
    arm "$1" || return 1
    order "$1" "$2" >/dev/null 2>&1 &
    soon is_held "$1"
}

# The first holder outlives its lease, the second one gets the lock, the first frees the second's
# lock, and the third gets the lock while the second still has it; the second's lease ends long
# after that.
records=$work/naive
serve a 2s && serve b 120s
check 'the first order is slow' slow_order a 0
check 'the second gets in after its lease' slow_order b 1
check 'the first ends, with the lock of the second' let_go a
check 'the third gets in beside the second' order a 2
let_go b
for name in a b; do
    send TERM "${pid_of[$name]}"
    wait "${pid_of[$name]}"
done

html=$work/timeline.html
# The holders in the output of the terminal and on the page.
in_terminal() {
    "$seckill" check "$records" --only=exclusion |
        sed -n 's/.* acquire  *ok  *\(pid [0-9]*, [^ ]*\) .*/\1/p' | sort -u
}
figure() { sed -n '/data-property="exclusion"/,/<\/section>/p' "$html"; }
in_page() { figure | sed -n 's/.*<dd class="holder">\([^<]*\)<.*/\1/p' | sort -u; }
in_lanes() {
    figure | sed -n '/class="lane actor"/,/<\/text>/s/.*<text[^>]*>\([^<]*\)<.*/\1/p' | sort -u
}
both_processes() {
    in_terminal
    [ "$(in_terminal | sed 's/,.*//' | sort)" = "$(printf 'pid %s\n' "${pid_of[@]}" | sort)" ]
}
check 'naive under slow is invalid: 1' status 1 "$seckill" check "$records" --html="$html"
check 'exclusion is what was violated' \
    says 'invalid +exclusion: .*\(1 of [0-9]+\)' "$seckill" check "$records"
check 'in its words' says 'both were promised the lock at the same time' \
    "$seckill" check "$records"
check 'the two holders are of the two processes' both_processes
acquire_of() { echo "acquire of pid ${pid_of[$1]}, [^ ]*, at [^ ]* ms, trace $(trace_of "$2")"; }
check 'with the traces of their requests' \
    says "broken by the $(acquire_of a 2), beside the $(acquire_of b 1)\$" \
    "$seckill" check "$records" --only=exclusion
check 'each of which is in the log of its process' \
    grep -q "was answered 200 accepted .* trace_id=$(trace_of 2) " "$work/log-a"
check 'where the other one is, too' grep -q "was answered 200 accepted .* trace_id=$(trace_of 1) " "$work/log-b"
traces_in_json() {
    "$seckill" check "$records" --json >"$work/verdict.json"
    jq -e --arg third "$(trace_of 2)" --arg second "$(trace_of 1)" '
        .findings[] | select(.property == "exclusion") | .examples[0] |
        .broken_by.traces == [$third] and .beside.traces == [$second]' "$work/verdict.json"
}
check 'programs get the traces as JSON' traces_in_json
check 'the page names just these two' diff <(in_terminal) <(in_page)
check 'and marks just their lanes' diff <(in_terminal) <(in_lanes)
traces_in_page() { figure | sed -n 's/.*<dd class="trace"><bdi>\([^<]*\)<.*/\1/p' | sort; }
check 'and names their traces' diff <(trace_of 1; echo; trace_of 2; echo) <(traces_in_page)
check 'in one window' test "$(figure | grep -c '<rect class="window"')" -eq 1
check 'the terminal says how to get the page' \
    says "seckill check $records --html=" "$seckill" check "$records"
check 'the lease that was outlived is found too' \
    says 'what did not hold: the work ends within its lease' "$seckill" check "$records"
check 'a page that cannot be written is said: 73' \
    says "cannot write $work/none/x.html [(]--html[)]: No such file" \
    status 73 "$seckill" check "$records" --html="$work/none/x.html"
# The limit of 1 KiB for the size of a file acts like a full disk.
full() (
    trap '' XFSZ
    ulimit -f 1
    "$seckill" check "$records" --html="$html" 2>&1 | cat
    return "${PIPESTATUS[0]}"
)
before=$(cksum <"$html")
check 'a full disk is said: 73' status 73 full
check 'and the old page stays, and nothing else' \
    test "$(cksum <"$html")$(ls "$html"*)" = "$before$html"

"$seckill" load --record --dir="$lab" --out="$work/runs" --stock=50 --duration=5s \
    --connections=8 -- --lock=reentrant --lock-scope=voucher >"$work/load" 2>&1
check 'a run of reentrant is valid: 0' status 0 "$seckill" check "$work/runs/latest" \
    --html="$work/good.html"
check 'its page says so' grep -q 'No violation was found' "$work/good.html"
part=$work/part
cp -r "$(readlink -f "$work/runs/latest")" "$part"
missing() { rm "$(find "$part/locks" -name '*.dlockrec' | grep "$1" laboratory | head -n 1)"; }
check_part() { "$seckill" check "$part" "$@"; }
check 'a property that the run says nothing about is unknown: 2' \
    says 'unknown: the run has nothing for the property fence to judge' \
    status 2 check_part --only=fence
check 'as JSON too' says '"why_unknown": "the run has nothing for the property latch' \
    check_part --only=latch --json
check 'a property with cases is valid: 0' status 0 check_part --only=exclusion
check 'the orders agree with the record of the writes: 0' status 0 check_part --only=orders
check 'the records of the locks find that record beside them: 0' \
    status 0 "$seckill" check "$part/locks" --only=orders
# A symbolic link to itself cannot be read, by root either.
rm "$part/writes.tsv" && ln -s writes.tsv "$part/writes.tsv"
check 'a record of the writes that cannot be read is said: 64' \
    says 'cannot read .*/writes.tsv: Too many levels' status 64 check_part
rm "$part/writes.tsv"
check 'a run without the record of the writes is unknown: 2' \
    says 'unknown: the record of the writes is missing: no file writes.tsv was found' \
    status 2 check_part
check 'its records alone as well: 2' status 2 "$seckill" check "$part/locks"
check 'and so is a property that is judged by it: 2' \
    says 'unknown: the record of the writes is missing' status 2 check_part --only=orders
check 'and no property that is not: 0' status 0 check_part --only=exclusion
missing -v
check 'a run without the record of a process is unknown: 2' \
    says 'unknown: the record of process p[12] [(]pid [0-9]+[)] is missing: run.json says 2 processes, 1 file was found' \
    status 2 check_part
check 'its records alone as well' status 2 "$seckill" check "$part/locks"
cp -r "$(readlink -f "$work/runs/latest")" "$work/calm" && part=$work/calm
missing -e
check 'a run without the record of the faults is unknown: 2' \
    says 'hole: the record of the faults is missing' status 2 check_part
first=$(find "$part/locks" -name '*.dlockrec' | head -n 1) && cp "$first" "$part/locks/twin.dlockrec"
check 'a malformed file is named with its path: 64' \
    says "^seckill check: $part/locks/.*: byte .*: expected a system" status 64 check_part
check 'and a missing record without a path' says '^seckill check: the record of the faults is missing' check_part
rm "$part/locks/twin.dlockrec"
head -c 50 "$part/run.json" >"$part/cut" && mv "$part/cut" "$part/run.json"
missing -v
check 'a run with a damaged run.json is unknown, whatever is missing: 2' \
    says 'run.json cannot be read, so it is not known whether a record is missing' status 2 check_part
rm -r "$part/locks" && ln -s locks "$part/locks"
check 'records that cannot be read are said: 64' \
    says 'cannot read .*/locks: Too many levels' status 64 check_part
check 'load says how to check' grep -q "seckill check $work/runs/" "$work/load"

strange=$(printf 'a\033[31m<b>\377')
printf '10 p1 t1 acquire %s -> 11 ok until=40\n12 p2 t2 acquire %s -> 13 ok until=40\n' \
    "$strange" "$strange" >"$work/strange"
check 'a name that is no text does not reach the terminal' \
    says 'lock "a\\x1b\[31m<b>\\xff"' "$seckill" check "$work/strange"
check 'and is still JSON' says '"lock": "a\\\\x1b\[31m<b>\\\\xff"' \
    "$seckill" check "$work/strange" --json

mkdir "$work/empty"
check 'a directory without records is refused: 64' status 64 "$seckill" check "$work/empty"
mkdir "$work/rubbish"
head -c 100000 /dev/urandom >"$work/rubbish/x.dlockrec"
check 'a file of rubbish is refused, and named, with what was expected: 64' \
    says 'x\.dlockrec: byte 0: expected "dlockrec"' status 64 "$seckill" check "$work/rubbish"
check 'rubbish as a text is refused: 64' status 64 "$seckill" check "$work/rubbish/x.dlockrec"
mkfifo "$work/pipe" && mkdir "$work/piped" && mkfifo "$work/piped/x.dlockrec"
check 'a FIFO is refused at once: 64' says 'pipe: it is no regular file' status 64 timeout 60 "$seckill" check "$work/pipe"
check 'a record that is one is damaged, and named' says 'x\.dlockrec: it is no regular file' timeout 60 "$seckill" check "$work/piped"
mkdir "$work/large" && truncate -s 2G "$work/large/x.dlockrec" "$work/large.txt"
check 'a record larger than any is damaged, and named' \
    says 'x\.dlockrec: it is larger than any file of its kind' "$seckill" check "$work/large"
check 'and such a text is refused: 64' \
    says 'large.txt: it is larger than any' status 64 "$seckill" check "$work/large.txt"
through_descriptors() {
    "$seckill" check <(cat "$work/x") && tee <"$work/x" | "$seckill" check /dev/stdin && "$seckill" check /dev/stdin <"$work/x"
}
printf '\0' >"$work/zero"
check 'a text that ends before its file does is refused: 64' \
    says 'the byte at offset 0 is 0' status 64 "$seckill" check "$work/zero"
printf '10 p1 t1 acquire a -> 11 ok until=40\n20 p1 t1 release a -> 21 ok\n' >"$work/x"
chmod +x "$work/x"
check 'an x bit makes no directory of a text' status 0 "$seckill" check "$work/x"
check 'a pipe that is an open descriptor is read' through_descriptors
printf '20 p1 t1 acquire a -> 11 ok until=40\n' >"$work/early"
check 'an answer before its call is refused, with its line: 64' \
    says 'line 1: answered at 11, before it was called' status 64 "$seckill" check "$work/early"
printf '10 p1 t1 acquire a -> 11 ok until=40\r\n20 p1 t1 release a -> 21 ok\r\n' >"$work/crlf"
check 'a text with the line ends of Windows is read' status 0 "$seckill" check "$work/crlf"
printf '10 p1 t1 acquire a -> 11 fi\033ne\n' >"$work/esc"
check 'a control character of a text does not reach the terminal' \
    says 'line 1: there is no answer "fi\\x1bne"' "$seckill" check "$work/esc"
printf 'system p1 killed=50\n10 p1 t1 acquire a -> 11 ok\n60 p1 t1 release a -> 61 ok\n' >"$work/dead"
check 'a call of a process that was killed is refused, with its line: 64' \
    says 'line 3: p1 records at 61, after it was killed at 50' status 64 "$seckill" check "$work/dead"
done_testing
