#!/bin/bash
# SPDX-License-Identifier: MIT
# partitions.sh -- a lab whose vouchers are spread over databases: seed and load use all of
# them, and the audit reads all of them.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 23
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
check 'a lab that is up gets partitions' \
    says ', 3 partitions' "$seckill" lab up --dir "$lab" --partitions=3
check 'and keeps them' says ', 3 partitions' "$seckill" lab up --dir "$lab"
check 'a partition is not taken away' \
    says 'the lab has 3 partitions already' status 64 "$seckill" lab up --dir "$lab" --partitions=2
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
# at NUMBER: the URL of a partition for the lab's owner
at() { if [ "$1" -eq 0 ]; then echo "$SECKILL_LAB_DATABASE_URL"; else echo "${SECKILL_LAB_DATABASE_URL}_$1"; fi; }
query() { psql -qAtX "$(at "$1")" -c "$2"; }
every() { for p in 0 1 2; do query "$p" "$1"; done | paste -sd' '; }
check 'each database knows its place' test "$(every 'SELECT number, count FROM tb_partition')" = '0|3 1|3 2|3'
"$seckill" seed --users=100 --vouchers=6 --stock=10 >/dev/null || exit 1
check 'a seed makes vouchers in each' test "$(every 'SELECT count(*) FROM tb_voucher')" = '2 2 2'
check 'whose ids name the partition' \
    test "$(every 'SELECT min(id) FROM tb_voucher')" = '1 1000000000001 2000000000001'

cd "$work" || exit 1
check 'a load over all of them is valid' "$seckill" load --vouchers=6 --stock=40 --duration=5s --quiet
sold=$(every 'SELECT count(*) > 0 FROM tb_voucher_order')
check 'and sold in each' test "$sold" = 't t t'
check 'no number of an order is in two of them' test "$(
    for p in 0 1 2; do query "$p" 'SELECT id FROM tb_voucher_order'; done | sort | uniq -d | wc -l)" = 0
check 'the audit of the live databases is valid' "$seckill" audit --from=database runs/latest

voucher=$(jq '.vouchers[-1]' runs/latest/run.json)
query 0 "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant, stock_guard,
    duplicate_guard, process) VALUES (999999, $voucher, 'misplaced', 'none', 'none', 'none', 'hand')"
check 'an order in the wrong partition makes it invalid' \
    says 'BAD lost-update' status 1 "$seckill" audit --from=database runs/latest
check 'and is named' \
    says "of voucher $voucher is in partition 0" status 1 "$seckill" audit --from=database runs/latest
query 0 "DELETE FROM tb_voucher_order WHERE request_id = 'misplaced'"
check 'without it the audit is valid again' "$seckill" audit --from=database runs/latest

issued() { every 'SELECT count(*) FROM lab.issue'; }
before=$(issued)
# by_urls URLS: a seed of two vouchers without a lab.
by_urls() {
    env -u SECKILL_LAB_DIR SECKILL_LAB_DATABASE_URL="$1" "$seckill" seed --users=0 --vouchers=2 --token-key-file="$lab/token.key"
}
# The service may not write the table lab.issue.
check 'a partition that refuses keeps every partition from a voucher: 64' \
    says '^seckill seed: no voucher was made: partition 1: ERROR:  permission denied' status 64 by_urls "$(at 0) $SECKILL_DATABASE_URL"
check 'so does a partition that does not answer: 69' \
    says '^seckill seed: no voucher was made: ' status 69 by_urls "$(at 0) postgresql://nobody@127.0.0.1:1/seckill"
check 'two partitions with one URL are refused: 64' \
    says 'partitions 0 and 1 have the same URL' status 64 by_urls "$(at 0) $(at 0)"
check 'and there is none' test "$(issued)" = "$before"
is_locked() {
    [ "$(query 1 "SELECT count(*) FROM pg_locks WHERE relation = 'tb_voucher'::regclass AND mode = 'AccessExclusiveLock' AND granted")" = 1 ]
}
# locked_out: end the connection of a seed that waits for a lock.
locked_out() {
    local pid waits="FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%LOCK TABLE tb_voucher%'"
    psql -qX "$(at 1)" -c 'BEGIN; LOCK TABLE tb_voucher; SELECT pg_sleep(600)' >"$work/locked" 2>&1 &
    own "$!"
    soon is_locked || return 1
    "$seckill" seed --users=0 --vouchers=4 &
    pid=$!
    own "$pid"
    until [ "$(query 1 "SELECT count(pg_terminate_backend(pid)) $waits")" -gt 0 ]; do is_own "$pid" || break; done
    status 69 wait "$pid"
    local got=$?
    query 1 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()"
    return "$got"
}
check 'so does a connection that is lost: 69' says '^seckill seed: no voucher was made: partition 1: ' status 0 locked_out
check 'and there is none, too' test "$(issued)" = "$before"

query 1 "CREATE FUNCTION lab.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not today''; END';
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON lab.issue DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lab.refuse()"
"$seckill" seed --users=0 --vouchers=4 >"$work/made" 2>"$work/refused"
got=$?
cat "$work/made" "$work/refused"
check 'if a COMMIT fails, the partitions before keep their vouchers: 64' test "$got $(every 'SELECT count(*) FROM lab.issue')" = \
    "64 $(awk '{print $1 + 2, $2, $3}' <<<"$before")"
check 'which were printed' test "$(grep -c '^voucher [0-9]*: stock 1000$' "$work/made")" = 2
check 'the failure is told' says '^seckill seed: no voucher was made: partition 1: ERROR:  not today' cat "$work/refused"
check 'with the number of those that stay' \
    says '^  the partitions before have committed 2 of 4 vouchers, which stay' cat "$work/refused"
done_testing
