#!/bin/bash
# SPDX-License-Identifier: MIT
# compare_judges.sh -- a lock with another outcome than the expected one is UNEXPECTED, and a hazard
# that did not happen gives unknown.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 13
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >"$work/up" 2>&1

# A seckilld that uses one lock in place of another, as $SWAP says.
wrap_seckilld <<'SCRIPT'
for swap in $SWAP; do
    for arg; do
        shift
        [ "$arg" = "--lock=${swap%:*}" ] && [ -z "$done" ] && arg=--lock=${swap#*:} && done=1
        set -- "$@" "$arg"
    done
done
case " $* " in
*" --process=$STRANGER "*) set -- "$@" --token-key-file="$work/other.key" ;;
esac
exec "$seckilld" "$@"
SCRIPT

# compare NAME SWAP EXPERIMENT OPTIONS...
compare() {
    local name=$1
    export SWAP=$2
    shift 2
    "$wrapped" compare --dir="$lab" --out="$work/runs" "$@" >"$work/$name" 2>&1
    got=$?
    sed 's/^/# /' "$work/$name"
}

compare slow 'lua:reentrant reentrant:lua' --locks=lua,reentrant --experiments=oversell --hazards=slow
check 'slow: a lock that is renewed where it must not hold is UNEXPECTED' \
    grep -q 'UNEXPECTED: oversell, slow, lua: expected broken; runs: sound' "$work/slow"
check 'slow: a lock that is not renewed where it must hold is UNEXPECTED' \
    grep -q 'UNEXPECTED: oversell, slow, reentrant: expected sound; runs: broken' "$work/slow"
check 'the exit status is 1' test "$got" -eq 1
check 'and the last line says so in words' status 0 grep -q \
    'exit 1: 2 cells are UNEXPECTED: oversell/slow/lua, oversell/slow/reentrant' "$work/slow"

compare gap 'owner:watch watch:owner' --locks=owner,watch --experiments=oversell,one-per-user --hazards=check-gap
for experiment in oversell one-per-user; do
    check "check-gap, $experiment: a delete that is refused where it must not be is UNEXPECTED" \
        grep -q "UNEXPECTED: $experiment, check-gap, owner: expected broken; runs: sound" "$work/gap"
    check "check-gap, $experiment: a delete of another's lock is UNEXPECTED" \
        grep -q "UNEXPECTED: $experiment, check-gap, watch: expected sound; runs: broken" "$work/gap"
done

compare frozen 'lua:pg-advisory' --locks=lua --experiments=oversell --hazards=freeze
check 'freeze: a lock that outlives its stopped process where it must not is UNEXPECTED' \
    grep -q 'UNEXPECTED: oversell, freeze, lua: expected broken; runs: sound' "$work/frozen"

# The threads of a single process compete too.
compare alone 'lua:none' --processes=1 --locks=lua --experiments=oversell --hazards=calm --repeats=1
check 'one process: a lock that lets two threads in is UNEXPECTED' \
    grep -q 'UNEXPECTED: oversell, calm, lua: expected sound; runs: broken' "$work/alone"

# `lua` never reaches the gap, so no process is stopped there.
compare missed 'owner:lua' --locks=owner --experiments=one-per-user --hazards=check-gap
check 'a hazard that did not come about is unknown, never UNEXPECTED' grep -q \
    'exit 2: 1 cell is unknown: one-per-user/check-gap/owner' "$work/missed"

# The second process accepts the tokens of no user.
key=$(tr 0-9a-f 1-9a-f0 <"$lab/token.key")
(umask 077 && printf '%s\n' "$key" >"$work/other.key")
STRANGER=p2 compare strange '' --locks=lua --experiments=oversell --hazards=calm --repeats=1
check 'a sale in which one process had no part is unknown' test "$got" -eq 2
check 'and the reason says so' grep -q \
    'unknown: oversell, calm, lua: .*only 1 of 2 processes sold an order or refused one by the lock' "$work/strange"
done_testing
