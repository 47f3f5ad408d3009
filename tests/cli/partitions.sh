#!/bin/bash
# SPDX-License-Identifier: MIT
# partitions.sh -- a lab whose vouchers are spread over databases: seed and load use all of
# them, and the audit reads all of them.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 13
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
done_testing
