#!/bin/bash
# SPDX-License-Identifier: MIT
# load_rate.sh -- `seckill load --rate` sends orders at a fixed rate, whatever the answers do.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 22
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
load=("$seckill" load --dir="$lab" --out="$work/runs")

refuses() {
    local words=$1
    shift
    says "$words" status 64 "${load[@]}" "$@"
}
check 'a rate that is no number is refused with its place' refuses 'at "abc" \(character 1\)' --rate=abc
check 'steps that go down are refused' refuses 'expected a rate above' --rate=100..50/10
check 'an objective that cannot be read is refused with its place' \
    refuses '"p99<50", at "50": expected a duration' --rate=100 --objective='p99<50'
check 'a quantile that wrk does not tell is refused' refuses 'p50, p90, p95' --objective='p97<1s'
check 'a pause longer than half of a step is refused' \
    refuses 'half of --duration' --rate=100 --duration=1s --pause=600ms

# the_run: print the directory of the newest run.
the_run() { printf '%s\n' "$work"/runs/* | tail -n 1; }
step() { jq -r ".steps[$1].$2" "$(the_run)/rate.json"; }

"${load[@]}" --rate=50..150/50 --duration=1s --objective='p50<100s' --objective='failed<100%' \
    -- --lock=reentrant >"$work/steps" 2>&1
got=$?
# On a busy machine the generator may be late in each step, or the service too slow.
expected() { jq '[.steps[] | select(.counts and .reached)] | if length > 0 then 0 else 3 end' "$(the_run)/rate.json"; }
check 'objectives that all rates hold end with 0 if a step counts that was reached' test "$got" -eq "$(expected)"
check 'the highest rate that counts and was reached is named' \
    test "$(step 0 rate) $(jq '.highest_rate == ([.steps[] | select(.counts and .reached) | .rate] | max)' "$(the_run)/rate.json")" = '50 true'
check 'each step sends what its rate makes' test "$(step 0 due) $(step 1 due) $(step 2 due)" = '50 100 150'
all_told() { jq -e 'all(.steps[]; ([.outcomes[]] | add) + .unanswered + .unsent == .due)' "$(the_run)/rate.json"; }
check 'each request is in one of the counts' all_told
check 'the audit agrees with what the buyers were told' says '^VALID: .* orders 300' cat "$work/steps"
check 'the audit reads the same from the run' status 0 "$seckill" audit "$(the_run)"

check 'limits that no rate holds end with 3' \
    says 'No .*holds|No step counts' status 3 "${load[@]}" --rate=50 --duration=1s --objective='accepted>100%'

# Objectives of the audit: every correct sale meets one, and misses the other.
audited_apart() {
    jq -e '.objectives == ["failed<=100%"]' "$(the_run)/rate.json" &&
        jq -e 'map([.objective, .state]) == [["oversold=0", "holds"], ["oversold>0", "missed"]]' "$(the_run)/objectives.json"
}
page_is_true() {
    jq -e '.results.runs["."].objectives | map(.state) == ["holds", "missed"]' "$(the_run)/data.json" &&
        tr -d '\n' <"$(the_run)/report.html" | grep -oE '<section id="thresholds">.*oversold&gt;0.*✗ missed.*✓ held' >/dev/null &&
        ! grep -q 'Thresholds [^:]*oversold' "$(the_run)/report.html"
}
check 'an objective of the audit that is missed ends with 3, whatever the rates keep' says '^  MISSED      oversold>0: 0$' status 3 \
    "${load[@]}" --rate=50 --duration=1s --objective='failed<=100%' --objective='oversold=0' --objective='oversold>0' -- --lock=reentrant
check 'the rates are held to the others, and the audit to its own' audited_apart
check 'the report shows the one that is missed, and does not call it held' page_is_true

# 500 ms of 3 s: a sixth of all requests is due while the service is stopped.
"${load[@]}" --rate=100 --duration=3s --pause=500ms --connections=4 --beside-wrk >"$work/paused" 2>&1
got=$?
# A later run of wrk has no rate.json, unlike the run of the open loop before it.
paused=$(dirname "$(printf '%s\n' "$work"/runs/*/rate.json | tail -n 1)")
stalled() { jq -e '.steps[0].latency["p99_ms"] >= 400 and .steps[0].latency["p99.9_ms"] >= 400' "$paused/rate.json"; }
check 'a run beside wrk ends with 0' test "$got" -eq 0
check 'the open loop sees a stall of 500 ms' stalled
check 'wrk is in the same file' jq -e '.wrk.latency_all["p99.9_ms"] > 0' "$paused/rate.json"
check 'and in the same table' says 'wrk, 4 connections: a closed loop' cat "$work/paused"

check 'orders that wait in a stream when the load ends are written before the audit' says '^VALID' \
    "${load[@]}" --rate=2000 --duration=2s -- --order-path stream --drain-timeout=1s --lock=reentrant

# A wrk that reads its users for ever.
mkdir "$work/path"
# shellcheck disable=SC2016  # the script expands it
printf '#!/bin/bash\n[ "$1" != -v ] || exec %q -v\nexec sleep 600\n' "$(command -v wrk)" >"$work/path/wrk"
chmod +x "$work/path/wrk"
check 'a wrk that sends nothing is named' says 'wrk sent nothing for [0-9]* s' status 69 \
    env PATH="$work/path:$PATH" "${load[@]}" --rate=50 --duration=1s --connections=4 --beside-wrk

# After SIGTERM in the middle, the answers so far are audited.
"${load[@]}" --out="$work/cut-runs" --rate=100 --duration=600s >"$work/cut" 2>&1 &
cut=$!
own "$cut"
accepts() { grep -qs accepted "$work"/cut-runs/*/ledger-1.tsv; }
soon accepts
send TERM "$cut"
wait "$cut"
got=$?
check 'an interrupted run ends with 130 and its verdict' test "$got $(grep -c '^VALID' "$work/cut")" = '130 1'
done_testing
