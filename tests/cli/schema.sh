#!/bin/bash
# SPDX-License-Identifier: MIT
# schema.sh -- db/schema.sql can be run again, and changes nothing then; a service does not start
# on other tables.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 6
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
"$seckill" seed --users=0 --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
query() { psql -qAtX -v ON_ERROR_STOP=1 "$SECKILL_LAB_DATABASE_URL" "$@"; }
apply() { query -1 -f "$root/db/schema.sql"; }
order() { # USER REQUEST
    query -c "INSERT INTO tb_voucher_order (user_id, voucher_id, request_id, lock_variant,
                  stock_guard, duplicate_guard, process)
              VALUES ($1, 1, '$2', 'none', 'conditional', 'none', 'test')"
}
is_refused() { ! order "$@" 2>/dev/null; }

check 'two users can have the same id' eval 'order 1 a && order 2 a'
check 'while one user cannot have it twice' is_refused 2 a
issued() { query -c 'SELECT begin_time, end_time FROM lab.issue WHERE voucher_id = 1'; }
window=$(issued)
query -c "UPDATE tb_seckill_voucher SET begin_time = '2026-02-01Z' WHERE voucher_id = 1"
check 'the schema can be run again, and keeps the orders' \
    test "$(apply 2>&1 | grep -c ERROR)-$(query -c 'SELECT count(*) FROM tb_voucher_order')" = 0-2
check 'and what was issued' test "$(issued)" = "$window"
query -c 'ALTER TABLE tb_voucher_order DROP COLUMN admitted_at'
refuses_to_start() {
    "$seckilld" --lock=none >"$work/start" 2>&1
    [ $? -eq 69 ] && grep -q "$1 does not exist.*run db/schema.sql" "$work/start"
}
check 'a service does not start without a column, and names it' \
    refuses_to_start 'column "admitted_at"'
query -c 'ALTER TABLE tb_voucher_order ADD COLUMN admitted_at timestamptz; DROP TABLE tb_partition'
check 'nor without a table' refuses_to_start 'relation "tb_partition"'
done_testing
