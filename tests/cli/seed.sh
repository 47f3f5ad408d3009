#!/bin/bash
# SPDX-License-Identifier: MIT
# seed.sh -- a seed that runs at every start makes its vouchers once, tokens can be written to a
# pipe, and they expire at the given time.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 32
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
query() { psql -qAt "$SECKILL_LAB_DATABASE_URL" -c "$1"; }
vouchers() { query 'SELECT count(*) FROM tb_voucher'; }

# Each seed makes two vouchers, so that the test notices a seed that saw half of another's work.
seeds=()
for i in {1..8}; do
    "$seckill" seed --once --users=0 --vouchers=2 >"$work/seed-$i" 2>&1 &
    seeds+=("$!")
done
every_seed_succeeds() {
    local pid
    for pid in "${seeds[@]}"; do wait "$pid" || return 1; done
}
# Not in check(), whose subshell cannot wait for the seeds.
all=0
every_seed_succeeds || all=$?
check 'eight seeds with --once at the same time all succeed' test "$all" -eq 0
check 'and make the vouchers of one' test "$(vouchers)" = 2
check 'a later one says that there are vouchers' \
    says 'already has vouchers' "$seckill" seed --once --users=0
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
"$seckill" seed --users=3 --tokens="$work/tokens" >"$work/next"
check '--tokens=FILE writes them into that file, in a lab too' only_tokens
check 'and the wrk line that is printed reads that file' grep -qF " SECKILL_TOKENS=$work/tokens " "$work/next"

# The 25th to the 40th digit are the second of the expiry, the 3rd and the 4th the role.
expiry_of() { printf '%d' "0x$(head -n 1 "$1" | sed 's/.* //' | cut -c25-40)"; }
is_about() { [ "$1" -ge $(($2 - 30)) ] && [ "$1" -le $(($2 + 30)) ]; }
"$seckill" seed --users=3 --vouchers=0 --tokens=- --lifetime=2h >"$work/short" 2>/dev/null
check 'tokens are good for a day unless told otherwise' \
    is_about "$(expiry_of "$work/tokens")" $(($(date +%s) + 86400))
check '--lifetime=2h makes tokens that are good for two hours' \
    is_about "$(expiry_of "$work/short")" $(($(date +%s) + 7200))
before=$(vouchers)
"$seckill" seed --operator >"$work/operator"
is_operator() { [ "$(wc -l <"$work/operator")" -eq 1 ] && grep -qxE '0202[0-9a-f]{68}' "$work/operator"; }
check '--operator prints one operator token and nothing else' is_operator
check 'and makes no voucher' test "$(vouchers)" = "$before"
check 'without a lab --operator needs the key file alone' \
    env -u SECKILL_LAB_DIR -u SECKILL_LAB_DATABASE_URL \
    "$seckill" seed --operator --token-key-file="$work/fresh.key"
check 'and made it for its owner alone' test "$(stat -c %a "$work/fresh.key")" = 600

# Tokens that expire soon would end a long run in the middle.
"$seckill" seed --users=50 --vouchers=0 --lifetime=1s >/dev/null
"$seckill" load --duration=1s --stock=5 --out="$work/runs" -- --lock=none >"$work/load" 2>&1 || true
check 'a command of the laboratory makes tokens anew that will not last' \
    test "$(expiry_of "$lab/tokens.txt")" -gt $(($(date +%s) + 43200))

# Ctrl-C while tokens of so many users are written that the writing takes seconds.
sum=$(md5sum <"$lab/tokens.txt")
"$seckill" seed --users=10000000 >"$work/cut" 2>&1 &
cut=$!
own "$cut"
writes() { compgen -G "$lab/tokens.txt.*" >/dev/null; }
soon writes
send INT "$cut"
wait "$cut"
check 'an interrupted seed ends with 130' test $? -eq 130
check 'and leaves the tokens as they were, and no other file' \
    test "$(md5sum <"$lab/tokens.txt") $(vouchers) $(compgen -G "$lab/tokens.txt.*")" = "$sum 5 "

times=$(vouchers)
check 'a beginning that is no time is refused, with an example: 64' \
    says '^seckill seed: --begin: expected a time, such as "2030-01-31 20:00[+]08", not "foo"$' \
    status 64 "$seckill" seed --users=0 --begin=foo
check 'so is an end: 64' says '^seckill seed: --end: expected a time.* not "2030-13-01"$' \
    status 64 "$seckill" seed --users=0 --end=2030-13-01

# spares ARGUMENT...: a seed of ten users, which must not cut the tokens of the lab; the status is 64.
tokens=$(md5sum <"$lab/tokens.txt")
spares() { status 64 "$seckill" seed --users=10 "$@" && [ "$tokens" = "$(md5sum <"$lab/tokens.txt")" ]; }
check 'a sale that would end before it begins is refused, and the tokens stay: 64' \
    says '^seckill seed: the sale would end .--end: 2029-01-01. before it begins .--begin: 2030-01-01.$' \
    spares --begin=2030-01-01 --end=2029-01-01
kept() { spares --begin=2030-01-01 --end=2029-01-01 && spares --end=2020-01-01 && spares --begin=foo; }
check 'also with the default of the beginning, and with a time that is none' kept
check 'so is a sale without an end: 64' says 'that are not infinite' spares --end=infinity
check 'and no voucher is made' test "$(vouchers)" = "$times"
check 'a sale of an instant is taken' status 0 "$seckill" seed --users=0 --begin=2030-01-01 --end=2030-01-01
check 'the time of the example is taken' status 0 "$seckill" seed --users=0 --begin='2030-01-31 20:00+08'
newest="FROM lab.issue ORDER BY voucher_id DESC LIMIT 1"
check 'and the sale ends a year later' test "$(query "SELECT end_time = begin_time + interval '1 year' $newest")" = t
check 'a sale that has begun long ago is taken' status 0 "$seckill" seed --users=0 --begin='2020-01-31 20:00+08'
check 'and ends in a year' test "$(query "SELECT end_time > now() + interval '360 days' $newest")" = t
check 'and a word of PostgreSQL' status 0 "$seckill" seed --users=0 --begin=tomorrow

# As in a container of the service, which has the key and no access as the database's owner.
unset SECKILL_LAB_DIR SECKILL_LAB_DATABASE_URL
(cd "$work" && SECKILL_TOKEN_KEY_FILE=$lab/token.key \
    "$seckill" seed --users=3 --vouchers=0 --tokens=-) >"$work/tokens" 2>/dev/null
check 'the key file is enough to make tokens' only_tokens
check 'without a lab, tokens need a place to go' says '--tokens=FILE' \
    status 64 env SECKILL_TOKEN_KEY_FILE="$lab/token.key" SECKILL_TOKENS= "$seckill" seed --vouchers=0
done_testing
