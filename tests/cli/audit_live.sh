#!/bin/bash
# SPDX-License-Identifier: MIT
# audit_live.sh -- `seckill audit` beside a service that runs: orders that wait in the stream, a
# service that is stopped, a Redis and a database that do not answer.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 21
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
redis() { redis-cli --no-auth-warning -u "$SECKILL_REDIS_URL" "$@"; }
pid_of() { jq ".servers[] | select(.name == \"$1\") | .pid" "$lab/state.json"; }
is_stopped() { grep -q '^State:.[Tt]' "/proc/$1/status"; }
audit() { "$seckill" audit --dir="$lab" "$@" "$run"; }
# audited STATUS FLAG...: audit the run; `said PATTERN` looks at what the audit printed.
audited() {
    local wanted=$1
    shift
    status "$wanted" audit "$@" >"$work/said" 2>&1 || { cat "$work/said" && false; }
}
said() { says "$1" cat "$work/said"; }

# begin NAME STOCK: issue a voucher for a run.
begin() {
    run=$work/$1
    mkdir "$run"
    SECKILL_VOUCHER=$("$seckill" seed --users=1000 --stock="$2" | sed -n 's/^voucher \([0-9]*\):.*/\1/p')
    export SECKILL_VOUCHER SECKILL_LEDGER_DIR=$run
}
# serve FLAG...: start a service.
serve() {
    "$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 "$@" >"$work/ready" 2>>"$work/log" &
    service=$!
    own "$service"
    soon grep -q '^ready' "$work/ready" || return 1
    url=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready")
}
load() { (cd "$root" && wrk -t1 -c4 -d5s --timeout 30s -s loadtest/wrk/order.lua "$url") >"$work/wrk"; }
stop() {
    send TERM "$service"
    wait "$service"
}

# Another holder has the lock of the voucher, so the writer leaves the orders in the stream, and the
# sessions of the service are idle.
begin stream 20
redis set "lock:voucher:$SECKILL_VOUCHER" held >/dev/null
serve --order-path=stream --lock=lua --lock-scope=voucher || exit 1
load
check 'orders that wait leave the verdict unknown: 2' audited 2
check 'they are no broken promises' said '[?] +broken-promise +20 '
check 'and the audit says where they wait' said '20 orders wait in the stream seckill:stream: '
# As `seckill load` writes it, if the orders wait for more than a minute.
printf '{"vouchers": [%d], "settled": false}\n' "$SECKILL_VOUCHER" >"$run/run.json"
printf '[{"voucher": %d, "issued": 20, "left": 20%s}]\n' "$SECKILL_VOUCHER" \
    ', "fence": 0, "issued_us": 1, "begin_us": 1, "end_us": 9, "moved": 0, "read_us": 0' \
    >"$run/stock.json"
: >"$run/orders.tsv"
check 'the files of the run have the same verdict: 2' \
    says '[?] +broken-promise +20 ' status 2 audit --from=files
rm "$run"/*.json "$run/orders.tsv"
redis del "lock:voucher:$SECKILL_VOUCHER" >/dev/null
check 'with its rows the same run is valid: 0' soon status 0 audit
stop

begin renamed 20
redis set "lock:voucher:$SECKILL_VOUCHER" held >/dev/null
serve --order-path=stream --lock=lua --lock-scope=voucher --stream-name=sale || exit 1
load
send KILL "$service"
wait "$service" 2>/dev/null
check 'orders of a service that died wait too: 2' audited 2 --stream-name=sale
check 'in the stream of that name' said '20 orders wait in the stream sale: '
redis_pid=$(pid_of redis)
kill -STOP "$redis_pid"
# The audit waits for the answer of Redis.
interrupted_audit() {
    local pid
    "$seckill" audit --dir="$lab" --stream-name=sale "$run" >"$work/said" 2>&1 &
    pid=$!
    own "$pid"
    send INT "$pid"
    status 130 wait "$pid"
}
check 'Ctrl-C ends an audit: 130' interrupted_audit
has_no_verdict() { cat "$work/said" && ! grep -q VALID "$work/said" && ! grep -q UNKNOWN "$work/said"; }
check 'without a verdict' has_no_verdict
check 'a Redis that does not answer leaves the verdict unknown: 2' \
    says 'Redis did not say whether orders wait in the stream sale' status 2 audit --stream-name=sale
kill -CONT "$redis_pid"
redis del sale >/dev/null
check 'an order that is in no stream is a broken promise: 1' \
    says 'BAD broken-promise +20 ' status 1 audit --stream-name=sale

# One request has no answer, and there is no stock left for it.
begin stopped 20
serve || exit 1
load
printf 'unanswered\tx\t-\t999\t%d\nend\t1\t0\t0\t1\n' "$SECKILL_VOUCHER" >"$run/ledger-9.tsv"
check 'beside a service that is quiet the run is valid: 0' soon status 0 audit
check 'without --voucher the audit judges the voucher of the ledgers' \
    says 'issued 20, orders 20,' status 0 env -u SECKILL_VOUCHER "$seckill" audit --dir="$lab" "$run"
kill -STOP "$service"
soon is_stopped "$service"
check 'a service that is stopped may still sell: 2' \
    says "the process $service of the service is stopped" status 2 audit
kill -CONT "$service"
check 'and when it goes on the run is valid again: 0' soon status 0 audit
stop

check 'a voucher that was never issued: 64' \
    says 'never issued voucher 99999' status 64 audit --voucher=99999
others=${SECKILL_LAB_DATABASE_URL%/*}/postgres
psql -qAt "$others" -c 'ALTER DATABASE seckill ALLOW_CONNECTIONS false' || exit 1
check 'a database that lets nobody in is unavailable: 69' \
    says 'is not currently accepting connections' status 69 audit
psql -qAt "$others" -c 'ALTER DATABASE seckill ALLOW_CONNECTIONS true'

# Of the servers, the rows need PostgreSQL, and only a stream needs Redis.
"$seckill" lab kill redis --dir="$lab" >/dev/null
check 'without Redis the database is read, and an unanswered request stays open: 2' audited 2
check 'and the audit says that the server has ended' said 'its server has ended, and seckill lab up'
printf '[{"name": "stream-name", "value": "sale"}, {"name": "order-path", "value": "direct"}]\n' >"$run/service.json"
check 'a run without a stream needs no Redis: 0' says 'from the live database' status 0 audit
"$seckill" lab kill postgres --dir="$lab" >/dev/null
check 'without PostgreSQL and without files: 69, with the server and what to do' \
    says 'postgres of the lab in .* has ended' status 69 audit
done_testing
