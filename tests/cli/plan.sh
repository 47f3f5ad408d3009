#!/bin/bash
# SPDX-License-Identifier: MIT
# plan.sh -- `seckill plan` computes from the rates of a file, prints the origin of each rate, and
# does not guess missing ones.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 28
cd "$work" || exit 1

# Round figures, for the arithmetic; no machine was measured.
mkdir run
cat >run/bench.json <<'JSON'
[{"order_path": "each", "lock": "reentrant", "clients": 64, "http_per_s": 7},
 {"order_path": "combined", "lock": "none", "clients": 64, "http_per_s": 20000},
 {"order_path": "combined", "lock": "reentrant", "clients": 16, "http_per_s": 8},
 {"order_path": "combined", "lock": "reentrant", "clients": 64, "http_per_s": 10000},
 {"claim": "orders-to-empty", "value": {"median": 0.2}},
 {"claim": "sold-out-to-empty", "value": {"median": 0.5}}]
JSON
sale=(--buyers=1000000 --vouchers=100 --stock=10000 --window=50s)
check 'the formulas are shown with their numbers' \
    says 'partitions = ceil\(o / \(X \* u\)\) = ceil\(20000 / \(10000 \* 0.6\)\) = 4' "$seckill" plan "${sale[@]}" --bench=run
check 'each rate has its origin' \
    says 'X = 10000 +/s +accepted orders of one voucher over HTTP, combined, lock reentrant, 64 clients' \
    "$seckill" plan "${sale[@]}" --bench=run/bench.json
check 'a ratio is turned into a rate in sight' \
    says 'F = 50000 +/s .*: 20000 / 0.20 \* 0.50' "$seckill" plan "${sale[@]}" --bench=run
check 'the rate of Redis can be told' \
    says 'R = 60000 +/s +pairs .*--locks-per-s' "$seckill" plan "${sale[@]}" --bench=run --locks-per-s=60000
json() { "$seckill" plan "${sale[@]}" --bench=run --json "${@:2}" | jq -e "$1"; }
check 'the same as JSON' json '.needs.partition.count == 4 and .needs.redis.count == 4 and .first_to_saturate == "partition"'
check 'a hot voucher is one lane, whatever the servers' \
    says 'no number of partitions' status 3 "$seckill" plan "${sale[@]}" --bench=run --hot=100 --stock=900000
check 'the hottest voucher has no less than its share: 64' \
    says 'the hottest of 2 vouchers has at least 50 percent' status 64 "$seckill" plan --buyers=1000000 --vouchers=2 --hot=10 --bench=run
check 'an only voucher has all requests: 64' \
    says 'the hottest of 1 voucher has at least 100 percent' status 64 "$seckill" plan --buyers=1000000 --hot=20 --bench=run
check 'an outage says over how long the tries have to be spread' \
    says 'J = d \* u / \(1 - u\) = 6.0 s' "$seckill" plan "${sale[@]}" --bench=run --outage=4s
check 'without a bench there is no plan' \
    says 'measure them: seckill bench' status 64 "$seckill" plan "${sale[@]}"
check 'nor without buyers' says 'buyers is missing' status 64 "$seckill" plan --bench=run
echo '[]' >empty.json
check 'a bench without the rates is named' \
    says 'empty.json has not the orders of path .combined. with the lock reentrant' status 64 "$seckill" plan "${sale[@]}" --bench=empty.json
sed 's/10000}/1e300}/' run/bench.json >damaged.json
check 'so is a rate that no machine has' says 'it is damaged' status 64 "$seckill" plan "${sale[@]}" --bench=damaged.json
sed 's/sold-out-to-empty/sold-out/' run/bench.json >older.json
check 'and a ratio that an older bench has not' \
    says 'older.json has not the ratios' status 64 "$seckill" plan "${sale[@]}" --bench=older.json
head -c 100 run/bench.json >half.json
check 'a bench that was cut off says how to get a whole one' \
    says 'measure it: seckill bench' status 64 "$seckill" plan "${sale[@]}" --bench=half.json
check 'a sale that nobody has is taken for a wrong unit' \
    says 'is --window in the unit' status 64 "$seckill" plan --buyers=1000000000 --tries=1000 --window=1ms --bench=run
check 'a window has a unit' says 'expected a duration' status 64 "$seckill" plan --buyers=5 --window=60 --bench=run
check 'a file that is not there is named' \
    says 'nowhere' status 64 "$seckill" plan "${sale[@]}" --bench=nowhere.json
# Of the 1000 us, 100 us are those of an eighth of a transaction; a replica adds 50 us, and two
# partitions 40 us.
cat >points.json <<'JSON'
[{"partitions": 1, "replicas": 1, "vouchers": 8, "connections": 64, "orders_per_s": 1000, "cpu_us": 1000, "own_cores": 1, "idle_cores": 0.5, "others_cores": 0},
 {"partitions": 1, "replicas": 1, "vouchers": 16, "connections": 64, "orders_per_s": 900, "cpu_us": 1100, "own_cores": 1, "idle_cores": 0.5, "others_cores": 0},
 {"partitions": 1, "replicas": 2, "vouchers": 8, "connections": 64, "orders_per_s": 800, "cpu_us": 1150, "own_cores": 1, "idle_cores": 0.5, "others_cores": 0},
 {"partitions": 2, "replicas": 1, "vouchers": 8, "connections": 64, "orders_per_s": 1250, "cpu_us": 1040, "own_cores": 1.5, "idle_cores": 0, "others_cores": 0},
 {"partitions": 4, "replicas": 1, "vouchers": 8, "connections": 64, "orders_per_s": 1202, "cpu_us": 1100, "own_cores": 1.5, "idle_cores": 0, "others_cores": 0},
 {"partitions": 4, "replicas": 2, "vouchers": 8, "connections": 64, "orders_per_s": 1400, "cpu_us": 1090, "own_cores": 1.5, "idle_cores": 0, "others_cores": 0}]
JSON
check 'points stand beside their prediction, with the error' \
    says '^ +4 +1 +8 +1442 +1202 +\+20% +1040 +1100' "$seckill" plan --points=points.json
check 'small transactions, replicas and partitions make orders dearer' \
    says '^ +4 +2 +8 +1261 +1400 +-10% +1190 +1090' "$seckill" plan --points=points.json
check 'the points that were learned from have no prediction' \
    says '^ +2 +1 +8 +- +1250 +-' "$seckill" plan --points=points.json
check 'the largest error is named' says 'The largest error .* 20 %.*' "$seckill" plan --points=points.json
check 'with the formula' says '900 us for an order \+ t \* 800 us' "$seckill" plan --points=points.json
check 'and its other costs' says '\(replicas - 1\) \* 50 us \+ 40 us' "$seckill" plan --points=points.json
sed 's/"vouchers": 16/"vouchers": 8/' points.json >alike.json
check 'two points that are alike teach nothing' \
    says 'differ in their vouchers' status 64 "$seckill" plan --points=alike.json
sed '3s/"replicas": 2/"replicas": 1/' points.json >alone.json
check 'nor does a third without more replicas' \
    says 'the third has more replicas' status 64 "$seckill" plan --points=alone.json
sed 's/"cpu_us": 1000/"cpu_us": -1/' points.json >negative.json
check 'a cost below nothing is refused' says 'must be a list' status 64 "$seckill" plan --points=negative.json
check 'points that are none are refused' says 'must be a list of 5 to' status 64 "$seckill" plan --points=empty.json
done_testing
