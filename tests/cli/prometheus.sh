#!/bin/bash
# SPDX-License-Identifier: MIT
# prometheus.sh -- Debian's Prometheus reads a service under load: promtool accepts the metrics and
# the alert rules, and each query of the rules and of the dashboard has an answer. promtool raises
# each alert, and the death of real servers raises the alerts about servers.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/prometheus.sh
. "$(dirname "$0")/support/prometheus.sh"
plan 24
rules=$root/docker/prometheus-rules.yml
# The time that an alert has to hold is removed, so that it is raised at once.
sed "s/^        for: .*/        for: 0s/" "$rules" >"$work/rules.yml"
dashboard=$root/docker/grafana-dashboard.json
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
SECKILL_VOUCHER=$("$seckill" seed --users=100000 --stock=50000 |
    sed -n 's/^voucher \([0-9]*\):.*/\1/p')
export SECKILL_VOUCHER
"$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 >"$work/ready" 2>"$work/log" &
service=$!
own "$service"
soon grep -q '^ready' "$work/ready"
orders=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready")
admin=$(sed -n 's/.*admin=http:..\([^ ]*\).*/\1/p' "$work/ready")
cd "$root" && wrk -t1 -c8 -d600s --timeout 30s -s loadtest/wrk/order.lua "$orders" >"$work/wrk" 2>&1 &
own $!

start_prometheus "$work/rules.yml" "$admin" || exit 1

has_answer() { [ -n "$(ask "$1")" ]; }
is_positive() { ask "$1" | awk '$1 > 0 {found = 1} END {exit !found}'; }

# all_answer: does each query on standard input have an answer?  An empty list fails.
all_answer() {
    local query count=0 status=0
    while IFS= read -r query; do
        count=$((count + 1))
        has_answer "$query" || {
            echo "no answer: $query"
            cat "$work/answer"
            status=1
        }
    done
    echo "$count queries"
    [ "$count" -gt 0 ] && return "$status"
}
# The rules without their limits: a rule whose limit is not passed has an empty answer.
figures() { jq -r '.data.groups[].rules[].query' "$work/rules" | sed -E 's/ [<>] [0-9.]+$//'; }
# shellcheck disable=SC2016  # Grafana expands it
panels() { jq -r '.panels[].targets[].expr' "$dashboard" | sed 's/\$__rate_interval/10s/g'; }
rules_answer() { all_answer < <(figures); }
panels_answer() { all_answer < <(panels); }
lists_each_metric() {
    local name queries count=0 status=0
    queries=$(panels)
    # shellcheck disable=SC2016  # code in Markdown
    while read -r name; do
        count=$((count + 1))
        grep -qE "\\b$name(_bucket)?\\b" <<<"$queries" || { echo "no panel: $name" && status=1; }
    done < <(sed -n 's/^| `\(seckill_[a-z_]*\)` .*/\1/p' docs/reference/metrics.md)
    [ "$count" -gt 0 ] && return "$status"
}
checks_metrics() { operator -s "http://$admin/metrics" | promtool check metrics; }

check 'promtool accepts the alert rules' promtool check rules "$rules"
raises_each() {
    local alert
    mkdir "$work/unit" && cp "$rules" "$work/unit/rules.yml" &&
        cp tests/cli/support/alerts.yml "$work/unit" || return 1
    while read -r alert; do
        grep -q "alertname=\"$alert\"" tests/cli/support/alerts.yml || { echo "untested: $alert"; return 1; }
    done < <(sed -n 's/.* alert: //p' "$rules")
    promtool test rules "$work/unit/alerts.yml"
}
check 'each alert is raised by figures of trouble, and none by those of a sale' raises_each
check 'orders are sold' soon is_positive 'seckill_batched_orders_total'
check 'requests go on' soon is_positive 'sum(rate(seckill_orders_total[10s]))'
check 'promtool accepts the metrics of a service under load' checks_metrics
check 'each metric has a panel' lists_each_metric
check 'Prometheus evaluates each rule without an error' soon has_evaluated
check 'the figure of each rule has an answer' rules_answer
check 'each query of the dashboard has an answer' panels_answer
check 'the time of an order is measured' \
    is_positive 'histogram_quantile(0.5, sum by (le) (rate(seckill_http_request_duration_seconds_bucket{route="order"}[10s])))'
check 'a query of a metric that does not exist has none' status 1 has_answer 'seckill_nothing_total'
is_calm() { curl -s "$watcher/api/v1/alerts" | jq -e '.data.alerts == []'; }
check 'no alert is raised while the service sells' soon is_calm
"$seckill" lab kill redis --dir "$lab" >/dev/null
check 'a dead Redis raises that the replica is not ready' soon fires SeckillNotReady
check 'and that connections to Redis break' soon fires SeckillRedisFails
check 'and that requests fail' soon fires SeckillOrdersFail
names_locks() { has_answer 'seckill_store_ready{store="locks"} == 0' && ! has_answer 'seckill_store_ready{store="postgresql"} == 0'; }
check 'and the metrics name the store of the locks alone' soon names_locks
"$seckill" lab restart redis --dir "$lab" >/dev/null
is_ready_again() { ! fires SeckillNotReady; }
check 'the alert is over when Redis is back' soon is_ready_again
# A session holds the row of the voucher. Some stock is left: wrk repeats the orders of the refused.
psql -qX "$SECKILL_LAB_DATABASE_URL" \
    -c "UPDATE tb_seckill_voucher SET stock = 20000 WHERE voucher_id = $SECKILL_VOUCHER" -c BEGIN \
    -c "SELECT 1 FROM tb_seckill_voucher WHERE voucher_id = $SECKILL_VOUCHER FOR UPDATE" \
    -c 'SELECT pg_sleep(3600)' >/dev/null 2>&1 &
holder=$!
own "$holder"
check 'a locked row raises that orders wait in vain' soon fires SeckillDatabaseBusy
{ send KILL "$holder" && wait "$holder"; } 2>/dev/null
psql -qX "$SECKILL_LAB_DATABASE_URL" -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE '%pg_sleep(3600)%' AND pid <> pg_backend_pid()" >/dev/null
check 'and the alerts end with it' soon is_calm
"$seckill" lab kill postgres --dir "$lab" >/dev/null
check 'a dead PostgreSQL raises that requests get no connection' soon fires SeckillDatabaseRefuses
check 'and that none can be opened' soon fires SeckillDatabaseFails
check 'the alert of a service that is down is not raised while the service runs' \
    status 1 fires SeckillDown
{ send KILL "$service" && wait "$service"; } 2>/dev/null
check 'and is raised when the service has been killed' soon fires SeckillDown
check 'and that no replica is left' soon fires SeckillAllDown
done_testing
