# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2034  # root and work are tap.sh's; others read the rest
# shop.sh -- a shop on containers for tests/compose/run: functions to start it, break it, order and
# audit. Source it after tap.sh. $COMPOSE is the command, perhaps of two words. The shop has its own
# project name and ports, in a copy of the tree, $shop. $profile_flags are the options of a profile,
# and $database is the service that has the primary.

docker compose version >/dev/null 2>&1 || : "${COMPOSE:=docker-compose}"
: "${COMPOSE:=docker compose}"
export COMPOSE_PROJECT_NAME=seckill-test-$$
shop=$work/shop
stock=1000000 # of the vouchers that the test makes

{ read -r FRONT_PORT && read -r GRAFANA_PORT; } < <("$root/tools/free_ports.py" 2)
export FRONT_PORT GRAFANA_PORT
url=http://127.0.0.1:$FRONT_PORT
# The limit is longer than the default of 5 s: a held order has to stay in progress until its
# replica was found and killed, also on a busy machine.
export SECKILL_STATEMENT_TIMEOUT=30s

# The copy has the files of a clone, and changes that are not committed yet.
check_out() {
    mkdir -p "$shop"
    git -C "$root" ls-files -z --cached --others --exclude-standard |
        tar -C "$root" --null --ignore-failed-read -T - -c 2>/dev/null | tar -C "$shop" -x
    drop_grafana_without_image
}

# Grafana is the one image of a vendor.  A machine without that registry tests all other services.
drop_grafana_without_image() {
    local image
    image=$(sed -n 's/^ *image: \(grafana\/.*\)/\1/p' "$shop/docker-compose.yml")
    has_grafana=yes
    docker image inspect "$image" >/dev/null 2>&1 || timeout 120 docker pull -q "$image" >/dev/null 2>&1 || {
        has_grafana=
        note "$image cannot be had: Grafana is not started"
        sed -i '/^  grafana:$/,/^ *ports: .*GRAFANA_PORT/d' "$shop/docker-compose.yml"
    }
}

profile_flags=()
database=postgres
# shellcheck disable=SC2086  # it may be two words
compose() { (cd "$shop" && $COMPOSE ${profile_flags[@]+"${profile_flags[@]}"} "$@"); }

# containers SERVICE...: print the containers of a service in the order of their numbers, dead ones
# too.
containers() {
    local service
    for service in "$@"; do
        docker ps --all --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
            --filter "label=com.docker.compose.service=$service" \
            --filter label=com.docker.compose.oneoff=False \
            --format '{{.Label "com.docker.compose.container-number"}} {{.ID}}' | sort -n | cut -d' ' -f2
    done
}
container() { containers "$1" | sed -n "${2:-1}p"; }

take_down() {
    [ -d "$shop" ] || return 0
    compose down --volumes --remove-orphans --timeout 5 >"$work/down" 2>&1 || cat "$work/down"
}

# documented HEADING [PAGE]: run the commands (blocks of the language sh) below that heading.
documented() {
    local commands page=$root/docs/how-to/${2:-run-in-containers}.md
    commands=$(awk -v heading="## $1" '
        $0 == heading { inside = 1; next }
        /^## / { inside = 0 }
        /^```/ { block = !block && inside && $0 == "```sh"; next }
        block && inside' "$page" |
        sed "s|http://127.0.0.1:8080|$url|")
    [ -n "$commands" ] || { echo "no commands below $1"; return 1; }
    # shellcheck disable=SC2086,SC2317  # perhaps two words; called by what is evaluated
    (
        cd "$shop" || exit 1
        docker() { [ "$1" = compose ] && shift && command $COMPOSE "$@"; }
        set -e
        eval "$commands"
    )
}

sql() { docker exec -i "$(container "$database")" psql -qAtX -U seckill_lab -d seckill -c "$1"; }

token_of() { awk -v user="$1" '$1 == user {print $2}' "$shop/tokens.txt"; }

# The stock that this test has issued, known without a server: "VOUCHER STOCK" per line.
issued() { echo "$1 $2" >>"$work/issued"; }

# new_voucher: create a voucher over HTTP, and print its number.
new_voucher() {
    local number
    number=$(make_voucher) && issued "$number" "$stock" && echo "$number"
}
make_voucher() {
    curl -sS --max-time 20 -X POST -H "Authorization: Bearer $(<"$shop/operator.txt")" \
        -H 'Content-Type: application/json' "$url/api/v1/vouchers" -d "{
            \"title\": \"test\", \"payValue\": 1, \"actualValue\": 2, \"stock\": $stock,
            \"beginTime\": \"2024-01-01T00:00:00Z\", \"endTime\": \"2044-01-01T00:00:00Z\"}" |
        sed -n 's/.*"id":"\([0-9]*\)".*/\1/p'
}

# order USER VOUCHER [SECONDS]: prints the status and the outcome.
order() {
    curl -s -o /dev/null --max-time "${3:-10}" -w '%{http_code} ' -D "$work/head.$BASHPID" -X POST \
        -H "Authorization: Bearer $(token_of "$1")" "$url/api/v1/vouchers/$2/orders"
    sed -n 's/^x-outcome: \([a-z-]*\).*/\1/Ip' "$work/head.$BASHPID"
    rm -f "$work/head.$BASHPID"
}

# get SECONDS: prints the status of a GET that may take so long.
get() { curl -s -o /dev/null --max-time "$1" -w '%{http_code}' "$url/api/v1/vouchers"; }
is_open() { [ "$(get 5)" = 200 ]; }
sells_to() { [[ $(order "$1" "$2") == 201* ]]; }
orders_of() { sql "SELECT count(*) FROM tb_voucher_order WHERE voucher_id = $1"; }
has_orders() { [ "$(orders_of "$1")" -ge "$2" ]; }

# The number of places of the front that ready replicas have taken.
replicas_ready() {
    docker exec "$(container front)" bash -c \
        "exec 3<>/dev/tcp/127.0.0.1/8404; printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3" |
        grep -cE '^haproxy_server_status\{proxy="seckilld",server="[^"]*",state="UP"\} 1'
}
has_replicas() { [ "$(replicas_ready)" -eq "$1" ]; }

# signal SIGNAL CONTAINER: send the signal to the main process from outside, as the kernel does when
# it has no memory. After `docker kill`, Docker would not restart the container.
signal() {
    local pid
    pid=$(docker inspect -f '{{.State.Pid}}' "$2") && [ "$pid" -gt 0 ] &&
        docker run --rm --pid=host --network=none --user=0 --entrypoint=sh seckill \
            -c "kill -$1 $pid"
}
restarts() { docker inspect -f '{{.RestartCount}}' "$1"; }
has_restarted() { [ "$(restarts "$1")" -gt "$2" ]; }

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN {printf "%.1f", b - a}'; }
note() { echo "# $*"; }

# Load until stop_load; the ledger of the answers stays.
loads=0
start_load() {
    loads=$((loads + 1))
    mkdir -p "$work/ledger-$loads"
    (cd "$shop" && exec env SECKILL_TOKENS=tokens.txt SECKILL_VOUCHER="$1" SECKILL_FACE=v1 \
        SECKILL_LEDGER_DIR="$work/ledger-$loads" \
        wrk -t2 -c"${3:-8}" -d"$2" --timeout 30s -s "loadtest/wrk/${4:-order}.lua" "$url") \
        >"$work/wrk-$loads" 2>&1 &
    load=$!
    pids+=("$load")
}
# wrk ends and prints its summary when it is interrupted; a signal before wrk installs its handler
# is lost.
stop_load() {
    soon has_ended "$load" || kill -KILL "$load"
    wait "$load"
    load=
}
has_ended() { ! kill -INT "$1" 2>/dev/null || gone "$1"; }
outcomes() { sed -n '/^Orders for/,$p' "$work/wrk-$loads"; }

# An honest client beside it.
start_probe() {
    python3 "$root/tests/compose/probe.py" "$url/api/v1/vouchers/1" "$work/probe" &
    probe=$!
    pids+=("$probe")
}
# probed SINCE: print what the honest client measured from then to now.
probed() { python3 "$root/tests/compose/probe.py" --report "$work/probe" "$1" "$(now)"; }

# audit: print what is wrong with the sale; succeed if nothing is.
audit() {
    local wrong
    wrong=$({
        echo 'CREATE TEMPORARY TABLE told ('
        echo 'what text, request text, order_id text, user_id bigint, voucher_id bigint);'
        echo 'COPY told FROM stdin;'
        grep -hE '^(accepted|unsure|unanswered)' "$work"/ledger-*/*.tsv
        echo '\.'
        echo 'CREATE TEMPORARY TABLE issued (voucher_id bigint, stock bigint);'
        echo "COPY issued FROM stdin (DELIMITER ' ');"
        cat "$work/issued"
        echo '\.'
        cat "$root/tests/compose/audit.sql"
    } | docker exec -i "$(container "$database")" psql -qAtX -v ON_ERROR_STOP=1 \
        -U seckill_lab -d seckill 2>&1)
    printf '%s\n' "$wrong"
    [ -z "$wrong" ]
}

# back NAME SINCE COMMAND...: wait until the command succeeds, and note the time since SINCE.
back() {
    local name=$1 began=$2
    shift 2
    soon "$@" || { compose ps; return 1; }
    echo "$name: $(since "$began") s" >>"$work/times"
}

# The audit compares the answers to clients, so there must be some.
ledger_is_whole() {
    outcomes
    grep -q '= the sum of the lines above' "$work/wrk-$loads" &&
        [ "$(cat "$work/ledger-$loads"/*.tsv | grep -c '^accepted')" -ge 20 ]
}
