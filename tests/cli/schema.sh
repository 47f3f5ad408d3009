#!/bin/bash
# SPDX-License-Identifier: MIT
# schema.sh -- db/schema.sql can be run again, and moves a database from before: there, a
# request's id was unique among all users.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 6
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
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
check 'in a database from before two users cannot have the same id' is_refused 2 a
check 'the schema can be run on it' apply
check 'and makes the id unique beside its user' test "$(columns)" = 'UNIQUE (user_id, request_id)'
check 'so that two users can have the same id' order 2 a
check 'while one user cannot have it twice' is_refused 2 a
check 'and the schema can be run again, and keeps the orders' \
    test "$(apply 2>&1 | grep -c ERROR)-$(query -c 'SELECT count(*) FROM tb_voucher_order')" = 0-3
done_testing
