#!/bin/bash
# SPDX-License-Identifier: MIT
# report.sh -- the report of real small runs of each kind, of two runs, and of damaged ones.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 29
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1

# load NAME FLAG...: run a load with these flags for each seckilld, in $work/NAME. The threads of
# each process compete, so that without a lock each sale is oversold.
load() {
    local name=$1
    shift
    "$seckill" load --dir="$lab" --out="$work/$name" --stock=100 --connections=16 --duration=30s -- "$@" \
        --order-path=each --lock-scope=voucher --lock-wait=20s --stock-guard=read-write \
        --duplicate-guard=none
}

# verdict FILE: print the first sentence of a report, in English.
verdict() { sed -n 's/^<p class="verdict[^>]*><span class="en" lang="en">\([^<]*\)<.*/\1/p' "$1"; }

# whole FILE: the page can send no request, its elements are closed, and it is below 1 MB.
whole() {
    [ "$(stat -c %s "$1")" -lt 1000000 ] && [ "$(tail -n 1 "$1")" = '</html>' ] &&
        ! grep -Eiq '(src|href)="?(https?:)?//|@import|url\(["'\'']?http' "$1" &&
        sed -n 's|^<script type="application/json" id="data[-ab]*">\(.*\)</script>$|\1|p' "$1" | jq -e '.results' >/dev/null
}

load broken --lock=none >"$work/said" 2>&1
check 'a load ends with its verdict, whatever the report is' grep -q 'BAD oversold' "$work/said"
broken=$work/broken/latest
check 'and prints where the report is' grep -qE '^report: .*/report\.html$' "$work/said"
check 'the report says first that it oversold' says '^✗ Oversold by [0-9,]+: [0-9,]+ orders for 100 vouchers\.$' verdict "$broken/report.html"
check 'it is one file that needs no other' whole "$broken/report.html"
check 'the speed of the broken lock is struck out' grep -q '<dd><s>[0-9,.]*</s></dd>' "$broken/report.html"
check 'its data has the format, the command and the origins of its settings' \
    jq -e '.format == 1 and .kind == "load" and .command[0:2] == ["seckill", "load"] and .exit == 1 and
           ([.settings[] | select(.name == "stock" and .value == "100" and .origin == "flag")] | length) == 1 and
           .results.runs["."].stopped.asked == 2 and (.versions | length) >= 3' "$broken/data.json"
check 'its data has all settings of seckilld, without the values of secrets' \
    jq -e '.results.runs["."].service | (length > 40) and
           any(.name == "lock" and .value == "none" and .origin == "flag") and any(.name == "lock-lease" and .origin == "default") and
           any(.name == "database-url" and .value == "(set)")' "$broken/data.json"
check 'and the report shows them' grep -q '<th scope="row"><code>lock-lease</code>' "$broken/report.html"
load sound --lock=reentrant >"$work/said" 2>&1
load again --lock=reentrant >"$work/said" 2>&1
sound=$work/sound/latest again=$work/again/latest
check 'a sound run is said to be sound' says '^✓ Sound: 100 orders for 100 vouchers' verdict "$sound/report.html"

# compared RUN RUN2: make the report of both.
compared() { "$seckill" report "$1" "$2" --out="$work/both.html" && whole "$work/both.html"; }
same_twice() {
    compared "$sound" "$again" && grep -q 'data-same="yes"' "$work/both.html" &&
        grep -q 'All settings are the same' "$work/both.html"
}
check 'two runs of the same settings are called the same' same_twice
different() {
    compared "$broken" "$sound" && says '^≠ Different: 1 of 1 verdicts differ' verdict "$work/both.html" &&
        grep -q -- '--lock=none' "$work/both.html"
}
check 'none and reentrant are called different, with their settings' different
other_machine() {
    mkdir "$work/elsewhere" && jq '.machine.processors = 64' "$sound/data.json" >"$work/elsewhere/data.json" &&
        compared "$sound" "$work/elsewhere" && grep -q 'Another machine: processors' "$work/both.html"
}
check 'another machine is said' other_machine

without_data() {
    cp -rL "$broken" "$work/bare" && rm "$work/bare/data.json" "$work/bare/report.html" &&
        says 'missing: data.json' status 2 "$seckill" report "$work/bare" &&
        says '^✗ Oversold' verdict "$work/bare/report.html" &&
        grep -q 'Missing: data.json' "$work/bare/report.html"
}
check 'a run without its data.json is told, and what is there is shown' without_data
truncated() {
    cp -rL "$broken" "$work/cut" && truncate -s 300 "$work/cut/data.json" &&
        says 'damaged, left out: data.json, line 1' status 2 "$seckill" report "$work/cut" &&
        says '^✗ Oversold' verdict "$work/cut/report.html" && whole "$work/cut/report.html"
}
check 'a truncated file is told, and the others are shown' truncated
# The lock uses no Redis, so the service does not use the URL, and the sale goes on.
masked() {
    local secret=pw-7f3a9c51e8
    load masked --lock=none --redlock-urls="redis://ann:$secret@127.0.0.1:1" \
        --etcd-url="http://ann:$secret/$secret@127.0.0.1:1" \
        --lock-database-url="postgresql://ann:$secret?$secret#@127.0.0.1:1/d" \
        --redis-url "redis-sentinel://127.0.0.1:1/m?sentinel-password=$secret" >"$work/said" 2>&1
    "$seckill" report "$work/masked/latest" "$sound" --out="$work/masked/both.html" >>"$work/said" 2>&1
    "$seckill" report "$work/masked/latest" --out="$work/masked/again.html" >>"$work/said" 2>&1
    jq -e '.command | index("--redlock-urls=redis://***@127.0.0.1:1")' "$work/masked/latest/data.json" &&
        grep -q 'redis://\*\*\*@127' "$work/masked/again.html" && whole "$work/masked/both.html" &&
        ! grep -r "$secret" "$work/masked" "$work/said" && ! grep -r 'ann:' "$work/masked"
}
check 'a password in a flag stands in no file of the run and in no report' masked
# The patterns are in a file, since grep would find them in its own command line.
listed() { grep -qaFf "$1" /proc/[0-9]*/cmdline 2>/dev/null; }
unlisted() {
    local load
    jq -r '.lab_password, .service_password, .redis_password' "$lab/state.json" >"$work/passwords"
    echo "--record=$work/unlisted/" >"$work/flag" # of a seckilld of this run
    "$seckill" load --dir="$lab" --out="$work/unlisted" --stock=100 --connections=16 \
        --duration=30s --record -- --lock=lua >"$work/said" 2>&1 &
    load=$!
    until listed "$work/flag"; do kill -0 "$load" || return 1; done
    while kill -0 "$load" 2>/dev/null; do ! listed "$work/passwords" || return 1; done
}
check 'no process of a lab or a run has a password of the lab in its command line' unlisted
edited_password() {
    mkdir "$work/leaky" && jq '.command += ["--database-url=postgresql://ann:pw-77@h/db?password=pw-77"]' "$sound/data.json" >"$work/leaky/data.json" &&
        "$seckill" report "$work/leaky" && ! grep -q 'pw-77' "$work/leaky/report.html"
}
check 'the report has no password, even if the data of the run has' edited_password
empty() {
    mkdir "$work/empty" && echo precious >"$work/empty/report.html" &&
        says "$work/empty: no data of a run: no data.json" status 64 "$seckill" report "$work/empty" &&
        says 'such as runs/latest' status 64 "$seckill" report "$sound" "$work/empty" &&
        [ "$(ls "$work/empty") $(cat "$work/empty/report.html")" = 'report.html precious' ]
}
check 'in a directory without data nothing is written: 64' empty
no_run() {
    says 'no data of a run' status 2 "$seckill" report "$work/empty" --out="$work/none.html" &&
        says '^. This directory has no data' verdict "$work/none.html"
}
check 'a file that --out names says that there is no data' no_run
file_of_run() {
    rm -f "$sound/report.html"
    "$seckill" report "$sound/data.json" && [ -e "$sound/report.html" ] && [ ! -e "$work/sound/report.html" ] &&
        says "^seckill report: $work/empty: no data" status 64 "$seckill" report "$work/empty/report.html" &&
        (cd "$sound" && says '^report: ./report.html$' "$seckill" report data.json)
}
foreign() {
    local page=$sound/report.html precious=$work/precious
    echo precious >"$precious"
    ln -sf "$precious" "$page" &&
        says 'report.html is no regular file' status 73 "$seckill" report "$sound" &&
        grep -q precious "$precious" && rm "$page" && mkfifo "$page" &&
        status 73 timeout 60 "$seckill" report "$sound" && rm "$page"
}
check 'a link under the name of the report is not followed, nor a FIFO opened' foreign
check 'a file names the run in whose directory it is' file_of_run
check 'a run that does not exist is refused' says 'no run at' status 64 "$seckill" report "$work/nowhere"
check 'a report needs a run' says 'name a run' status 64 "$seckill" report
check 'a file that cannot be written is refused' says 'cannot write' status 73 "$seckill" report "$sound" --out="$work/no/such/place.html"
printed() {
    "$seckill" report "$sound" --out=- >"$work/printed.html" && cmp "$work/printed.html" "$sound/report.html" &&
        "$seckill" report "$sound" --out=/dev/fd/3 3> >(cat >"$work/piped.html") && soon cmp "$work/piped.html" "$sound/report.html"
}
check '--out=- prints the page and nothing else, and a pipe gets the page' printed
hostile() {
    mkdir "$work/hostile" && jq '.kind = "<script>alert(1)</script>" | .results.runs["."].run.lock = "</script><script>alert(2)</script>" |
        del(.results.runs["."].run.seckilld_flags) | .kind = "load"' "$sound/data.json" >"$work/hostile/data.json" &&
        "$seckill" report "$work/hostile" && ! grep -qE '<script>alert' "$work/hostile/report.html" && grep -q '&lt;script&gt;alert(2)' "$work/hostile/report.html"
}
check 'names with tags in them are shown as text' hostile

# An objective for each result: one that every sale meets, and one that this sale misses.
thresholds() {
    "$seckill" load --dir="$lab" --out="$work/limits" --stock=100 --connections=16 --duration=30s --objective='oversold=0' \
        --objective='lost<=1000000' -- --lock=none --order-path=each --lock-scope=voucher --stock-guard=read-write --duplicate-guard=none >"$work/said" 2>&1
    jq -e '.results.runs["."].objectives | map(.state) == ["missed", "holds"]' "$work/limits/latest/data.json" &&
        tr -d '\n' <"$work/limits/latest/report.html" | grep -oE '<section id="thresholds">.*✗ missed.*✓ held' >/dev/null
}
check 'thresholds stand in the report with what was measured, the missed one first' thresholds
"$seckill" compare --dir="$lab" --out="$work/compare" --locks=none,lua --experiments=oversell --hazards=calm,slow --repeats=1 >"$work/table" 2>/dev/null
check 'a comparison leaves a report' says '^✓ All 4 cells are as expected' verdict "$work/compare/latest/report.html"
check 'with the faults of its sales, and what each layer stopped' \
    jq -e '[.results.runs[] | select(.run.times.fault_to_ms > .run.times.fault_from_ms)] | length == 2' "$work/compare/latest/data.json"
done_testing
