#!/bin/bash
# SPDX-License-Identifier: MIT
# schema.sh -- db/schema.sql can be run again, and upgrades an older database, in which
# a request's id was unique among all users, and neither an order's admission nor the
# issued window was stored.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 10
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
"$seckill" seed --users=0 --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
query() { psql -qAtX -v ON_ERROR_STOP=1 "$SECKILL_LAB_DATABASE_URL" "$@"; }
columns() {
    query -c "SELECT pg_get_constraintdef(oid) FROM pg_constraint
              WHERE conname = 'orders_one_per_request'"
}
apply() { query -1 -f "$root/db/schema.sql"; }
order() { # USER REQUEST
    query -c "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,
                  stock_guard, duplicate_guard, process)
              VALUES ($1, 1, '$2', 'none', 'conditional', 'none', 'test')"
}
is_refused() { ! order "$@" 2>/dev/null; }

query -c 'ALTER TABLE tb_voucher_order DROP CONSTRAINT orders_one_per_request,
          ADD CONSTRAINT orders_one_per_request UNIQUE (request_id)'
order 1 a && order 2 b
query -c "ALTER TABLE tb_voucher_order DROP COLUMN admitted_at;
          ALTER TABLE lab.issue DROP COLUMN begin_time, DROP COLUMN end_time;
          UPDATE tb_seckill_voucher SET begin_time = '2026-01-01Z' WHERE voucher_id = 1"
check 'in a database from before two users cannot have the same id' is_refused 2 a
refuses_to_start() {
    "$seckilld" --lock=none >"$work/start" 2>&1
    [ $? -eq 69 ] && grep -q 'column "admitted_at" does not exist.*run db/schema.sql' "$work/start"
}
check 'a service does not start on it, and says what to do' refuses_to_start
check 'the schema can be run on it' apply
check 'and makes the id unique beside its user' test "$(columns)" = 'UNIQUE (user_id, request_id)'
check 'two users can have the same id' order 2 a
check 'while one user cannot have it twice' is_refused 2 a
check 'orders from before have no admission' \
    test "$(query -c 'SELECT count(*), count(admitted_at) FROM tb_voucher_order')" = '3|0'
issued_from() { query -c "SELECT begin_time = '$1' FROM lab.issue WHERE voucher_id = 1"; }
check 'a voucher from before counts as issued with the window it has' \
    test "$(issued_from 2026-01-01Z)" = t
query -c "UPDATE tb_seckill_voucher SET begin_time = '2026-02-01Z' WHERE voucher_id = 1"
check 'and the schema can be run again, and keeps the orders' \
    test "$(apply 2>&1 | grep -c ERROR)-$(query -c 'SELECT count(*) FROM tb_voucher_order')" = 0-3
check 'and what was issued' test "$(issued_from 2026-01-01Z)" = t
done_testing
