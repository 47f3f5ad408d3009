#!/bin/bash
# SPDX-License-Identifier: MIT
# load_ends.sh -- the exit status of `seckill load` if a process of it crashed, was killed or ended with an
# error, and the verdict if evidence of the run is missing.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 15
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"

# With $END the second process ends with that status: after SIGTERM, or when the file `leave` exists.
wrap_seckilld <<'SCRIPT'
case "$END $* " in
[0-9]*" --process=p2 "*) ;;
*) exec "$seckilld" "$@" ;;
esac
trap 'asked=1' TERM
setpriv --pdeathsig KILL "$seckilld" "$@" &
until [ -n "$asked" ] || [ -e "$work/leave" ]; do sleep 0.05; done
kill -TERM $!
wait
exit "$END"
SCRIPT

rated=--rate=50 closed=--stock=1000000
# during HARM LOAD OPTIONS...: run a load, $rated or $closed; when it has sold, run HARM. $got is the exit
# status.
during() {
    local harm=$1
    shift
    for seconds in 5 20 80; do # a slow machine may be late with the harm
        rm -rf "$work/runs" "$work/leave"
        "$wrapped" load --dir="$lab" --out="$work/runs" --duration=${seconds}s --quiet "$@" >"$work/said" 2>&1 &
        load=$!
        own "$load"
        run=$work/runs/latest
        struck=
        soon sold && "$harm" && struck=1
        wait "$load"
        got=$?
        [ -z "$struck" ] || break
    done
    sed 's/^/# /' "$work/said"
}
sold() { grep -qs accepted "$run/ledger-1.tsv"; }
nothing() { true; }
end_second() { kill "-$signal" "$(pgrep -P "$load" -f -- "--process=p2 ")"; }
told() { grep -Eq "seckill: seckilld \(p2\) $1; its log is " "$work/said"; }

during nothing "$rated" -- --lock=reentrant
check 'a load whose processes end well ends with 0' test "$got" -eq 0

signal=SEGV during end_second "$closed" --connections=2 -- --lock=reentrant
check 'a process that crashed makes a valid load end with 70' test "$got" -eq 70
check 'the command says which process crashed, and how' told 'died in the middle of the run by signal 11 .*'
check 'the last line says so too' says '^seckill load: exit 70: seckilld .p2. died' tail -n 1 "$work/said"
signal=ABRT during end_second "$rated" -- --lock=reentrant
check 'a crash makes a load at a fixed rate end with 70, too' test "$got" -eq 70
signal=SEGV during end_second "$closed" -- --lock=none --lock-scope=voucher \
    --stock-guard=read-write --duplicate-guard=none
check 'a violation counts more than a crash' test "$got" -eq 1

for signal in KILL TERM; do
    during end_second "$rated" -- --lock=reentrant
    check "a process that was ended by SIG$signal leaves the verdict of the audit" test "$got" -eq 0
    check 'the command names it' told 'died in the middle of the run .*'
done

leave() { touch "$work/leave"; }
END=3 during leave "$rated" -- --lock=reentrant
check 'a process that ended by itself makes a valid load end with 70' test "$got" -eq 70
END=23 during nothing "$rated" -- --lock=reentrant
check 'so does a process that ended with an error when it was stopped' test "$got" -eq 70
check 'and the command says so' told 'was stopped and ended with status 23'

# Evidence that is missing.
lose_ledger() { rm "$run/ledger-2.tsv"; }
during lose_ledger "$closed" --connections=2 -- --lock=reentrant
check 'a ledger that was lost makes the verdict unknown' test "$got" -eq 2

# A session of the service works on for longer than the command waits for it.
keep_session() {
    psql --no-psqlrc -qAtX "$SECKILL_DATABASE_URL" -c 'SELECT pg_sleep(600)' >"$work/session" 2>&1 &
    own "$!"
    end_second
}
signal=KILL during keep_session "$rated" -- --lock=reentrant
is_open() { jq -e '.settled == false' "$run/run.json"; }
check 'a run whose sessions have not ended is not settled' is_open
done_testing
