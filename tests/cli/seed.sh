#!/bin/bash
# SPDX-License-Identifier: MIT
# seed.sh -- a seed that is run at every start makes its vouchers once, and tokens can go
# to a pipe.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 7
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
query() { psql -qAt "$SECKILL_LAB_DATABASE_URL" -c "$1"; }
vouchers() { query 'SELECT count(*) FROM tb_voucher'; }

# Two vouchers each, so that a seed that saw half of another's work would be noticed.
seeds=()
for i in {1..8}; do
    "$seckill" seed --once --users=0 --vouchers=2 >"$work/seed-$i" 2>&1 &
    seeds+=("$!")
done
every_seed_succeeds() {
    local pid
    for pid in "${seeds[@]}"; do wait "$pid" || return 1; done
}
# Not through check(), which runs its command in another shell, where wait knows no seed.
all=0
every_seed_succeeds || all=$?
check 'eight seeds with --once at the same time all succeed' test "$all" -eq 0
check 'and make the vouchers of one' test "$(vouchers)" = 2
check 'a later one says that there are vouchers' \
    says 'has vouchers already' "$seckill" seed --once --users=0
check 'and makes none' test "$(vouchers)" = 2
"$seckill" seed --users=0 >/dev/null
check 'without --once there is one more' test "$(vouchers)" = 3
check 'with --users=0 no tokens were written' test ! -e "$lab/tokens.txt"

"$seckill" seed --users=3 --vouchers=0 --tokens=- >"$work/tokens" 2>/dev/null
only_tokens() {
    cat "$work/tokens"
    [ "$(grep -cE '^[0-9]+ [0-9A-Za-z._-]{40,}$' "$work/tokens")" -eq 3 ] &&
        [ "$(wc -l <"$work/tokens")" -eq 3 ]
}
check '--tokens=- prints the tokens and nothing else to the standard output' only_tokens
done_testing
