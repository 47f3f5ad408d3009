#!/bin/bash
# SPDX-License-Identifier: MIT
# users.sh -- the users of wrk: as many as a sale needs, and the end of a load whose users run out.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 7
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
load=("$seckill" load --dir="$lab" --out="$work/runs" --quiet)

# One of the two processes of wrk may sell all.
"${load[@]}" --stock=1000000 --duration=500ms -- --lock=none >"$work/many" 2>&1
cat "$work/many"
check 'each thread has a user for every order of a run that may sell 25,000' \
    test "$(wc -l <"$lab/tokens.txt")" -ge 50000

# A wrk that gets few users, however many the laboratory has made.
mkdir "$work/path"
head -n 300 "$lab/tokens.txt" >"$work/tokens"
printf '#!/bin/bash\nSECKILL_TOKENS=%q exec %q "$@"\n' "$work/tokens" "$(command -v wrk)" >"$work/path/wrk"
chmod +x "$work/path/wrk"
the_run() { printf '%s\n' "$work"/runs/* | tail -n 1; }

# Without a duplicate guard each further order of a user would be a duplicate.
PATH=$work/path:$PATH "${load[@]}" --stock=100000 --duration=600s -- \
    --lock=lua --lock-scope=voucher --duplicate-guard=none >"$work/few" 2>&1
got=$?
cat "$work/few"
check 'a sound lock is sound although the users run out' test "$got" -eq 0
check 'the load says that they ran out' says '^The load ended after .* ran out: each had$' cat "$work/few"
check 'no user was sold a second order' says '^VALID: .*orders ([12]?[0-9]?[0-9]|300),' cat "$work/few"
check 'load.json says it too' jq -e '.users_ran_out and .users == 300' "$(the_run)/load.json"
head -n 40 "$lab/tokens.txt" >"$work/tokens" # fewer users than connections
check 'a run of wrk beside a fixed rate shows no speed then' says 'the users of wrk ran out' status 69 \
    env PATH="$work/path:$PATH" "${load[@]}" --rate=50 --duration=4s --beside-wrk

head -n 300 "$lab/tokens.txt" >"$work/tokens"
# 300 users make at most 300 orders in a whole second.
PATH=$work/path:$PATH "$seckill" bench --dir="$lab" --out="$work/benches" --duration=1s --repeats=1 \
    --clients=16 --quiet >"$work/bench" 2>&1
got=$?
cat "$work/bench"
shows_no_understated_figure() {
    # A machine that is fast enough sells to all before the first look.
    [ "$got" -ne 69 ] || { grep 'the users of wrk ran out at once' "$work/bench" && return; }
    jq -e 'all(.[]; .users_ran_out or (.users_ran_out == false and .http_per_s <= 300))' "$work"/benches/*/bench.json
}
check 'a bench measures until the users run out' shows_no_understated_figure
done_testing
