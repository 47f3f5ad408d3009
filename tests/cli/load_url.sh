#!/bin/bash
# SPDX-License-Identifier: MIT
# load_url.sh -- `seckill load --url` loads a service that it did not start, and judges only the
# answers; --ramp lets the rate rise before the first step.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 27
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
unset SECKILL_TOKENS
tokens=$lab/tokens.txt
"$seckill" seed --users=4000 --vouchers=2 --stock=100000 >"$work/seed"
"$seckill" seed --users=0 --stock=50 >>"$work/seed"
mapfile -t vouchers < <(sed -n 's/^voucher \([0-9]*\):.*/\1/p' "$work/seed")
"$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 >"$work/ready" 2>"$work/log" &
service=$!
own "$service"
soon grep -q '^ready' "$work/ready"
url=$(sed -n 's/.*orders=\([^ ]*\).*/\1/p' "$work/ready")
named=http://localhost:${url##*:}
run=$work/runs/latest

# to URL FLAG...: load that service. refuses WORDS FLAG...: the flags are refused with these words.
to() { "$seckill" load --out="$work/runs" --quiet --tokens="$tokens" --url="$1" "${@:2}"; }
refuses() { says "^seckill load: $1" status 64 to "$url" "${@:2}"; }
bad_urls() {
    local bad said
    for bad in http://u:S3CRET@127.0.0.1:1 https://u:S3CRET@h:1 "$url/" "$url?a" http://127.0.0.1 \
        http://127.0.0.1:70000 http://:1 'http://h h:1' $'http://h\r\nX:1' ftp://h:1; do
        said=$(says '^seckill load: --url: expected http://HOST:PORT, ' status 64 to "$bad") ||
            { echo "$bad: $said" && return 1; }
        [[ $said != *S3CRET* ]] || return 1
    done
}
check 'what is no http://HOST:PORT is refused, and a password not repeated' bad_urls
own_flags() {
    local words
    for words in --locks=lua --processes=2 --front --stock=5 --vouchers=2 --record --dir="$lab" \
        '--pause=100ms --rate=5' '--beside-wrk --rate=5'; do
        # shellcheck disable=SC2086  # two flags
        refuses "${words%%[= ]*} is about services" $words || return 1
    done
}
check 'flags about services of its own are refused by name' own_flags
check 'and so are flags of seckilld' refuses 'the flag --lock of seckilld' -- --lock=lua
check 'and so is an objective of the audit' \
    refuses '--objective=oversold=0 needs an audit' --objective=oversold=0
check 'a voucher that is no number is refused' refuses 'voucher "1,x" .*: expected' --voucher=1,x
check 'a closed loop has no ramp' refuses '--ramp needs --rate' --ramp=1s
check 'more orders than buyers are refused' \
    refuses '--rate sends 5000 orders, and the 4000 users of ' --rate=500
check 'without --url its flags are refused' \
    says '--tokens needs --url' status 64 "$seckill" load --tokens="$tokens"
check '--url needs tokens' says '--url needs --tokens' status 64 "$seckill" load --url="$url"

# tokens_refused WORDS FILE [MODE]: FILE is refused, and nothing of it is repeated.
tokens_refused() {
    local said
    chmod "${3:-600}" "$2"
    said=$(refuses "cannot use the tokens in $2: $1" --tokens="$2") || { echo "$said" && return 1; }
    [[ $said != *$token* ]]
}
token=$(sed -n '1s/.* //p' "$tokens")
: >"$work/empty"
check 'a file without tokens is refused' tokens_refused 'it has no tokens' "$work/empty"
{ cat "$tokens" && echo "${token}0"; } >"$work/torn"
check 'a line that is wrong is named by its number' \
    tokens_refused 'line 4001 is no "USER TOKEN"' "$work/torn"
truncate -s 100000000 "$work/large"
check 'a file of 100 MB is refused' tokens_refused 'it is too long' "$work/large"
cp "$tokens" "$work/open"
check 'a file that others may read is refused' tokens_refused 'its mode is 0644' "$work/open" 644
"$seckill" seed --users=5 --vouchers=0 --tokens="$work/short" --lifetime=2s >/dev/null
check 'tokens that do not last are refused' tokens_refused 'line 1 has a token that' "$work/short"

to "$named" --voucher="${vouchers[0]}" --duration=1s --connections=4 >"$work/closed" 2>&1
check 'a closed loop ends with 0' test "$?" -eq 0
sed 's/^/# /' "$work/closed"
told="^NOT AUDITED: only the answers of $named were seen: clients were told of"
check 'the verdict is that there is no audit' grep -q "$told [1-9]" "$work/closed"
check 'its ledger can be audited with the database' says '^VALID' status 0 "$seckill" audit "$run"
to "$named" --voucher="${vouchers[2]}" --duration=600s >"$work/sold" 2>&1
check 'the load ends when the stock is sold' grep -q "$told 50 orders" "$work/sold"
shows_nothing() {
    status 2 to "$url" --voucher="${vouchers[2]}" --json-lines >"$work/lines" &&
        jq -se 'map(select(.event == "run"))[0] | has("verdict") and .verdict == null' "$work/lines"
}
check 'a load without an accepted order shows nothing' shows_nothing

to "$named" --voucher="${vouchers[1]}" --face=v1 --rate=40 --ramp=2s --duration=2s \
    --objective='failed<=100%' >"$work/rated" 2>&1
got=$?
sed 's/^/# /' "$work/rated"
# On a busy machine the generator may be late, or the service too slow.
expected() { jq 'if any(.steps[]; .counts and .reached) then 0 else 3 end' "$run/rate.json"; }
check 'an open loop ends as its steps do' test "$got" -eq "$(expected)"
# rises RUN STEPS: [is it the ramp, its rate, its requests] of each step.
rises() { [ "$(jq -c '[.steps[] | [.ramp, .rate, .due]]' "$1/rate.json")" = "$2" ]; }
check 'a ramp sends half of its last rate' rises "$run" '[[true,40,40],[null,40,80]]'
check 'and does not count' jq -e '.steps[0].flaw == "the rate rose"' "$run/rate.json"
claims_nothing() {
    ! grep -wiE 'sound|valid' "$work"/{closed,sold,rated} &&
        grep -q 'was not audited' "$run/report.html" && ! ls "$work"/runs/*/verdict.json
}
check 'no load claims to know the sale' claims_nothing
check 'the audit agrees with what the buyers were told' \
    says '^VALID' status 0 "$seckill" audit "$run"
leaks() { grep -rqF -f <(cut -d' ' -f2 "$tokens") "$work"/{runs,closed,rated,sold,lines}; }
check 'no token is printed or kept' status 1 leaks
send TERM "$service"
wait "$service"
check 'a service that does not answer is named' \
    says "no service answers at $url: " status 69 to "$url"
"$seckill" load --dir="$lab" --out="$work/own" --rate=20 --ramp=1s --duration=1s >"$work/said" 2>&1
check 'a service of its own may be loaded like that, too' \
    rises "$work/own/latest" '[[true,20,10],[null,20,20]]'
done_testing
