# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034  # root and work are tap.sh's; shop.sh reads the rest
# profiles.sh -- a profile of docker-compose.yml for tests/compose/run: started as its page says, it sells
# without the store of the core that it replaces; then its master, leader or primary is killed, and it
# sells on; the audit finds every order.  Source it after shop.sh.

# heading PROFILE: where docs/how-to/run-topologies-in-containers.md has its commands.
declare -A heading=(
    [sentinel]='Sentinel' [cluster]='Redis Cluster' [ensemble]='ZooKeeper ensemble' [etcd]='etcd'
    [standby]='Standby' [pgbouncer]='PgBouncer' [metrics]='Prometheus and Grafana'
)
# The stores that the profile replaces.  They are killed, so that no order can have used them.
declare -A replaced=([sentinel]=redis [cluster]=redis [ensemble]=zookeeper)

start_profile() {
    documented "${heading[$1]}" run-topologies-in-containers && soon has_replicas 2
}
inside() { docker exec "$(container "$1")" "${@:2}"; }

# --- who leads ---------------------------------------------------------------------------

# leader_of PROFILE: print the service that is the leader, as the servers report it.
leader_of() {
    local service
    case $1 in
    sentinel)
        for service in sentinel-1 sentinel-2 sentinel-3; do
            inside "$service" redis-cli -p 26379 --raw SENTINEL get-master-addr-by-name shop | head -n 1 && return
        done ;;
    cluster)
        for service in cluster-{1..6}; do
            inside "$service" redis-cli ROLE 2>/dev/null | grep -qx master && echo "$service" && return
        done ;;
    ensemble)
        for service in ensemble-{1..3}; do
            inside "$service" bash -c 'exec 3<>/dev/tcp/127.0.0.1/2181; printf srvr >&3; cat <&3' 2>/dev/null |
                grep -q '^Mode: leader' && echo "$service" && return
        done ;;
    etcd)
        for service in etcd-{1..3}; do
            inside "$service" env ETCDCTL_API=3 etcdctl endpoint status -w json 2>/dev/null |
                jq -e '.[0].Status | .leader == .header.member_id' >/dev/null && echo "$service" && return
        done ;;
    pgbouncer) echo pgbouncer && return ;;
    esac
    return 1
}
# follows PROFILE SERVICE: is the killed server, which was the leader, a part of the system again?
follows() {
    case $1 in
    sentinel) inside "$2" redis-cli INFO replication | grep -q 'master_link_status:up' ;;
    cluster)
        inside "$2" redis-cli INFO replication | grep -q 'master_link_status:up' &&
            inside "$2" redis-cli CLUSTER INFO | grep -q 'cluster_state:ok' ;;
    ensemble)
        inside "$2" bash -c 'exec 3<>/dev/tcp/127.0.0.1/2181; printf srvr >&3; cat <&3' |
            grep -qE '^Mode: (leader|follower)' ;;
    etcd) inside "$2" env ETCDCTL_API=3 etcdctl endpoint health ;;
    pgbouncer) inside "$2" bash -c 'exec 3<>/dev/tcp/127.0.0.1/6432' ;;
    esac
}

# --- the checks -----------------------------------------------------------------------------

sells_without() {
    local before
    docker kill "$(container "$1")" >/dev/null && before=$(orders_of "$voucher") &&
        soon has_orders "$voucher" $((before + 50))
}
leader_dies() {
    local began before was id
    was=$(leader_of "$1") && [ -n "$was" ] && id=$(container "$was") || return 1
    echo "the leader was $was"
    began=$(now)
    signal KILL "$id"
    soon changed_leader "$1" "$was" || return 1
    before=$(orders_of "$voucher")
    back "$1: after the death of $was fifty orders were sold" "$began" has_orders "$voucher" $((before + 50)) &&
        soon follows "$1" "$was"
}
changed_leader() {
    local is
    is=$(leader_of "$1") || return 1
    [ "$1" = pgbouncer ] || [ "$is" != "$2" ]
}
# As after the loss of a machine, Docker does not restart the container, so that it takes no orders
# beside the new primary.
primary_dies() {
    local began before
    [ "$(sql "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby'")" = sync ] || return 1
    began=$(now)
    docker kill "$(container postgres)" >/dev/null || return 1
    database=standby
    documented 'Promote' run-topologies-in-containers && soon before_is && before=$(<"$work/before") &&
        back 'standby: after the death of the primary fifty orders were sold' "$began" \
            has_orders "$voucher" $((before + 50))
}
before_is() { orders_of "$voucher" >"$work/before" && [ -s "$work/before" ]; }
# The service's sessions come from PgBouncer's address alone.
is_pooled() {
    local from
    from=$(sql "SELECT DISTINCT host(client_addr) FROM pg_stat_activity WHERE usename = 'seckill_service'")
    echo "$from"
    docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$(container pgbouncer)" |
        grep -qxF "${from:-none}"
}
locks_are() { [ "$(sql "SELECT DISTINCT lock_variant FROM tb_voucher_order WHERE voucher_id = $voucher")" = "$1" ]; }

# --- metrics ----------------------------------------------------------------------------

query() { inside prometheus promtool query instant http://127.0.0.1:9090 "$1"; }
says_value() { query "$1" | grep -q "=> $2 @"; }
# Each query of the dashboard that has no answer; the last line says how many there were.
# shellcheck disable=SC2016  # Grafana expands the interval; the container's shell expands the rest
panels_answer() {
    local said
    said=$(jq -r '.panels[].targets[].expr' "$shop/docker/grafana-dashboard.json" |
        sed 's/\$__rate_interval/30s/g' |
        docker exec -i "$(container prometheus)" bash -c 'while IFS= read -r query; do
            count=$((count + 1))
            promtool query instant http://127.0.0.1:9090 "$query" </dev/null | grep -q . || echo "no answer: $query"
        done; echo "$count queries"')
    echo "$said"
    [[ $said =~ ^[1-9][0-9]*\ queries$ ]]
}
has_rules() {
    inside prometheus bash -c \
        "exec 3<>/dev/tcp/127.0.0.1/9090; printf 'GET /api/v1/rules HTTP/1.0\r\n\r\n' >&3; cat <&3" |
        sed '1,/^\r$/d' | jq -e '[.data.groups[].rules[].health == "ok"] | length > 10 and all'
}
shows_dashboard() { curl -sf "http://127.0.0.1:$GRAFANA_PORT/api/dashboards/uid/seckill" | jq -e '.dashboard.panels | length > 0'; }
check_metrics() {
    check 'Prometheus finds each replica by the common name' soon says_value 'count(up{job="seckill"} == 1)' 2
    check 'and the front' soon says_value 'up{job="front"}' 1
    check 'it evaluates every alert rule without an error' soon has_rules
    check 'every query of the dashboard has an answer while a sale runs' soon panels_answer
    compose up -d --scale seckilld=3 >/dev/null 2>&1
    check 'a third replica is found' soon says_value 'count(up{job="seckill"} == 1)' 3
    compose up -d --scale seckilld=1 >/dev/null 2>&1
    check 'replicas that are gone are forgotten' soon says_value 'count(up{job="seckill"})' 1
    [ -z "$has_grafana" ] || check 'Grafana has the dashboard' soon shows_dashboard
}

# --- a profile from its start to its end ---------------------------------------------------

test_profile() {
    local profile=$1
    profile_flags=(--profile "$profile")
    [ ! -e "$shop/docker/profiles/$profile.env" ] ||
        profile_flags+=(--env-file "docker/profiles/$profile.env")
    database=postgres
    rm -rf "$work"/ledger-* "$work/issued"
    check "$profile: docker compose accepts the profile" compose config --quiet
    check "$profile: the shop starts as documented" start_profile "$profile"
    check "$profile: tokens come as documented" documented 'Get tokens'
    issued 1 1000 # by the first start
    voucher=$(new_voucher)
    start_load "$voucher" 600
    check "$profile: wrk orders" soon has_orders "$voucher" 100
    [ -z "${replaced[$profile]:-}" ] ||
        check "$profile: the shop sells without the ${replaced[$profile]} of the core" sells_without "${replaced[$profile]}"
    case $profile in
    ensemble) check "$profile: the lock is zk-seq" locks_are zk-seq ;;
    etcd) check "$profile: the lock is etcd" locks_are etcd ;;
    pgbouncer) check "$profile: every session of the service is PgBouncer's" is_pooled ;;
    metrics) check_metrics ;;
    esac
    case $profile in
    standby) check "$profile: the primary dies, the standby is promoted, and the shop sells on" eval 'primary_dies' ;;
    metrics) ;;
    *) check "$profile: the leader dies, the shop sells on, and the leader comes back" leader_dies "$profile" ;;
    esac
    [ "$profile" != standby ] || database=standby
    stop_load
    check "$profile: wrk can say of each order what became of it" ledger_is_whole
    check "$profile: nothing was lost, invented or oversold" audit
    take_down
    profile_flags=()
}
