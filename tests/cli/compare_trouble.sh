#!/bin/bash
# SPDX-License-Identifier: MIT
# compare_trouble.sh -- runs of a comparison that fail: they are tried again, end as
# unknown, and do not affect other cells.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 16
lab=$work/lab
labs+=("$lab")
json=$work/runs/latest/summary.json

# A seckilld that never starts with `naive`, and with `lua` only at the second try.
wrap_seckilld <<'SCRIPT'
case " $* " in
*" --lock=naive "*) echo "2026-01-31T12:00:00.000Z ERROR the store refuses naive" >&2 && exit 69 ;;
*" --lock=lua "*) mkdir "$work/lua-failed" 2>/dev/null && echo "not yet" >&2 && exit 69 ;;
esac
exec "$seckilld" "$@"
SCRIPT

compare() {
    "$wrapped" compare --dir="$lab" --out="$work/runs" --locks=none,naive,lua \
        --experiments=oversell --hazards=calm --repeats=1 "$@"
}
compare >"$work/table" 2>"$work/progress"
got=$?
cat "$work/table" "$work/progress" | sed 's/^/# /'
check 'a service that cannot start in one cell makes the comparison exit with 2' test "$got" -eq 2
check 'the last line names the cell' status 0 grep -Eq \
    'exit 2: 1 cell is unknown: oversell/calm/naive$' <(tail -n 1 "$work/progress")
check 'the cell is unknown in the table' grep -Eq '^naive +unknown' "$work/table"
check 'the reason is what the service said' grep -q \
    'unknown: oversell, calm, naive: .*the store refuses naive' "$work/table"
check 'the summary has the reason too' grep -q '"reason": ".*the store refuses naive' "$json"
check 'the failing cell was tried three times' grep -q '"attempts": 3' "$json"
check 'the files of the first attempt are kept' test -s "$work/runs/latest/oversell/calm/naive-1.try-1/seckilld-1.log"
check 'the cell before it came out as expected' grep -Eq '^none +[0-9]+ over' "$work/table"
check 'the cell that failed once came out as expected' grep -Eq '^lua +sound' "$work/table"
check 'the cell that failed once was tried again' test -d "$work/runs/latest/oversell/calm/lua-1.try-1"
check 'and somebody was told why' grep -q 'lua: .*not yet.*trying again (2 of 3)' "$work/progress"

# If a server of the lab has ended, it is started again, and the comparison goes on.
lose_redis() {
    local redis
    compare --locks=lua --hazards=slow,calm --hazard-repeats=2 >"$work/lost" 2>&1 &
    own "$!"
    soon test -e "$work/runs/latest/oversell/slow/lua-1/wrk.txt" || return 1
    redis=$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$lab/state.json" | sed -n 2p)
    kill -KILL "$redis"
    wait "$!"
    cat "$work/lost"
    grep -q 'redis of the lab in .* has ended; starting it again' "$work/lost"
}
rm "$work/runs/latest"
check 'a Redis server that was killed is started again' lose_redis
check "after which every cell came out as expected" grep -q "exit 0: all 2 cells" "$work/lost"

# disturbed REASON HARM...: in the middle of a run the command HARM is run; the reason of the second
# try is REASON.  The lock is sound, since a run with a violation is not tried again, and the stock lasts
# as long as the run.
disturbed() {
    local reason=$1 seconds
    shift
    run=$work/runs/latest/oversell/calm/reentrant-1
    for seconds in 5 20 80; do # on a slow machine the run may end before the harm
        rm "$work/runs/latest"
        "$wrapped" compare --dir="$lab" --out="$work/runs" --locks=reentrant --experiments=oversell \
            --hazards=calm --repeats=1 --stock=100000 --duration=${seconds}s >"$work/disturbed" 2>&1 &
        compare=$!
        own "$compare"
        soon test -s "$run/ledger-1.tsv" && "$@"
        wait "$compare"
        cat "$work/disturbed"
        grep -q "calm, reentrant: $reason.*trying again" "$work/disturbed" && return
    done
    return 1
}
end_one() { kill -KILL "$(pgrep -P "$compare" -x "$1" | tail -n 1)"; }
damage_ledger() { printf 'rubbish\n' | dd of="$run/ledger-1.tsv" conv=notrunc 2>&1; }
check 'a run in which a service process died is tried again' \
    disturbed 'seckilld (p[12]) died in the middle of the run' end_one seckilld
check 'so is a run in which wrk was killed, and the signal is named' \
    disturbed 'wrk was ended by signal 9 (Killed)' end_one wrk
check 'so is a run whose ledger cannot be read' \
    disturbed 'the run could not be audited: a ledger of it cannot be read' damage_ledger
done_testing
