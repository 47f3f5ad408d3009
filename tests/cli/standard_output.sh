#!/bin/bash
# SPDX-License-Identifier: MIT
# standard_output.sh -- standard output on a full disk, and into a pipe whose reader leaves.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 14

full='cannot write standard output: No space left on device'
# on_full WANTED COMMAND...: its status, and the message on stderr alone, once.
on_full() {
    local wanted=$1 got=0
    shift
    "$@" >/dev/full 2>"$work/said" || got=$?
    cat "$work/said"
    [ "$got" -eq "$wanted" ] && [ "$(grep -c "$full" "$work/said")" -eq 1 ]
}

# A run without orders is unknown, with one it is valid, with two of one voucher it is invalid.
make_run() {
    run=$work/run-$1
    mkdir "$run"
    printf '{"vouchers": [9], "settled": true}\n' >"$run/run.json"
    printf '[{"voucher": 9, "issued": 1, "left": %d%s}]\n' $(($1 ? 0 : 1)) \
        ', "fence": 0, "issued_us": 1, "begin_us": 1, "end_us": 9, "moved": 0, "read_us": 0' \
        >"$run/stock.json"
    for ((i = 1; i <= $1; i++)); do
        printf '%d\t%d\t9\tr-%d\tnone\tread-write\tnone\tp1\tnow\t2\t2\n' "$i" "$i" "$i" >>"$run/orders.tsv"
        printf 'accepted\tr-%d\t%d\t%d\t9\n' "$i" "$i" "$i" >>"$run/ledger-1.tsv"
    done
    : >>"$run/orders.tsv"
    printf 'end\t%d\t%d\t%d\t0\n' "$1" "$1" "$1" >>"$run/ledger-1.tsv"
}
audit() { "$seckill" audit --from=files --dir="$work/nowhere" "$@"; }
for orders in 0 1 2; do make_run "$orders"; done

check 'a valid audit ends with 73' on_full 73 audit --json "$work/run-1"
check 'an invalid one with its verdict, and the message' on_full 1 audit "$work/run-2"
check 'an unknown one too' on_full 2 audit "$work/run-0"
check 'the help ends with 73' on_full 73 "$seckill" help
check 'the help of a command too' on_full 73 "$seckill" load --help
check 'the version too' on_full 73 "$seckill" --version
check 'the list of locks too' on_full 73 "$seckill" locks
check 'the token of an operator too' on_full 73 "$seckill" seed --operator --token-key-file="$work/key"
check 'the tokens too' on_full 73 "$seckill" seed --users=3 --vouchers=0 --token-key-file="$work/key" --tokens=-
check 'the help of seckilld too' on_full 73 "$seckilld" --help
check 'and its settings' on_full 73 "$seckilld" --show-config
mistaken() { status 64 "$seckill" locks --nothing >/dev/full; }
check 'a mistake in the command line stays 64' mistaken

# With SIGPIPE ignored too, as Python and supervisors start programs.
no_message() {
    local got
    got=$({ "$@" 2>&3 | :; } 3>&1)
    [ -z "$got" ] || { echo "$got" && return 1; }
}
reader_leaves() {
    no_message "$seckill" help && no_message "$seckill" locks && no_message "$seckilld" --help &&
        (trap '' PIPE && no_message "$seckilld" --help)
}
check 'a reader that leaves gets no message' reader_leaves
# So many tokens that a pipe cannot hold them.
"$seckill" seed --users=100000 --vouchers=0 --token-key-file="$work/key" --tokens=- 2>"$work/said" | head -n 1 >"$work/first"
ended=${PIPESTATUS[0]}
is_quiet_end() { cat "$work/said" && [ "$ended" -eq 0 ] && ! grep -q 'cannot' "$work/said" && grep -q '^1 ' "$work/first"; }
check 'a reader of tokens that leaves ends the command with 0' is_quiet_end
done_testing
