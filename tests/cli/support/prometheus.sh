# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154  # work is tap.sh's
# prometheus.sh -- starts a Prometheus of Debian's package for tests of the service's metrics.
#
# Source it after tap.sh.

# start_prometheus RULES ADMIN...: start a Prometheus with those rules, which reads those services
# twice a second as the job `seckill`. $watcher is its address.
start_prometheus() {
    local rules=$1 targets port pid
    shift
    targets=$(printf '"%s",' "$@")
    cat >"$work/prometheus.yml" <<YAML
global: {scrape_interval: 500ms, evaluation_interval: 500ms}
rule_files: ["$rules"]
scrape_configs:
  - job_name: seckill
    authorization: {credentials_file: "$SECKILL_ADMIN_TOKEN_FILE"}
    static_configs: [{targets: [${targets%,}]}]
YAML
    # Prometheus prints no port, so several ports are tried.
    for port in $(shuf -i 20000-29999 -n 20); do
        prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" \
            --web.listen-address="127.0.0.1:$port" >"$work/prometheus.log" 2>&1 &
        pid=$!
        own "$pid"
        watcher=http://127.0.0.1:$port
        until curl -sf "$watcher/-/ready" >/dev/null; do
            is_own "$pid" || continue 2
            sleep 0.05
        done
        is_own "$pid" && return 0
    done
    cat "$work/prometheus.log"
    return 1
}

# ask QUERY: print the values of the answer, one on a line. No output: the query has no answer, or
# Prometheus refuses it.
ask() {
    curl -s "$watcher/api/v1/query" --data-urlencode "query=$1" | tee "$work/answer" |
        jq -r 'select(.status == "success") | .data.result[].value[1]'
}

# has_evaluated: has Prometheus evaluated each rule without an error? Its answer is in $work/rules.
has_evaluated() {
    curl -s "$watcher/api/v1/rules" >"$work/rules"
    jq -e '[.data.groups[].rules[] | .health == "ok"] | length > 0 and all' "$work/rules"
}

# fires ALERT: is the alert raised, after the time that its rule asks for?
fires() {
    curl -s "$watcher/api/v1/alerts" |
        jq -e --arg name "$1" 'any(.data.alerts[]; .labels.alertname == $name and .state == "firing")'
}
