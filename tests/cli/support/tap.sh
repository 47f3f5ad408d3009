# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# tap.sh -- what the tests of the command line share: TAP, a directory, labs.
#
# Source it, say `plan N`, then make N checks.  Everything that a test makes is below
# $work.  At the end, whatever happens, every process that the test gave to `own` is killed
# and every lab in $labs is taken down.

set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
seckill=$root/build/seckill
# shellcheck disable=SC2034  # for who sources this
seckilld=$root/build/seckilld
# shellcheck disable=SC2034
wrapped=
# shellcheck disable=SC2034
library=$(sed -n 's/^#define SECKILL_LIBRARY "\(.*\)"/\1/p' "$root/base/text/version.h")
work=$(mktemp -d /tmp/seckill-cli-XXXXXX)
labs=()
# Lines "PID START-TIME".  A check runs its command in another shell, which can add to a file
# and to no array of this one.
owned=$work/owned
: >"$owned"
number=0
failed=0

# A lab of somebody else's must not be used by accident; where labs write is no lab.
for name in $(compgen -e SECKILL_ || true); do
    [ "$name" = SECKILL_LAB_DATA ] || unset "$name"
done

# start_of PID: when that process started, in clock ticks since the machine did.
start_of() {
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    stat=${stat##*) } # the name of the program may hold blanks
    # shellcheck disable=SC2086  # fields
    set -- $stat
    echo "${20}"
}

# own PID...: processes that were just started; finish kills them.
own() {
    local pid start
    for pid; do
        start=$(start_of "$pid") && echo "$pid $start" >>"$owned"
    done
}

# is_own PID: does the process that was given to `own` still exist?  Once a process has been
# waited for, the kernel may give its number to a process of another test.
is_own() {
    local start
    start=$(start_of "$1") && grep -qx "$1 $start" "$owned"
}

# hears PID: has that process, if it still runs, asked for SIGINT?  What a script starts in
# the background ignores SIGINT until then.
hears() {
    local mask
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ -z "$mask" ] || ((0x$mask & 2)) || gone "$1"
}

# send SIGNAL PID...: to those processes of `own` that still exist; SIGINT as soon as they
# hear it.
send() {
    local name=$1 pid missed=0
    shift
    for pid; do
        [ "$name" != INT ] || soon hears "$pid" || missed=1
        is_own "$pid" && kill "-$name" "$pid" || missed=1
    done
    return "$missed"
}

finish() {
    local pid start lab
    while read -r pid start; do
        [ "$(start_of "$pid")" != "$start" ] || { kill -KILL "$pid" && wait "$pid"; }
    done <"$owned" 2>/dev/null
    for lab in ${labs[@]+"${labs[@]}"}; do
        [ ! -e "$lab" ] || "$seckill" lab down --dir "$lab" >/dev/null 2>&1
    done
    # Those that a test has made and was interrupted in have their servers still.
    while read -r lab; do
        "$seckill" lab down --dir "${lab%/state.json}" </dev/null >/dev/null 2>&1
    done < <(find "$work" -name state.json)
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# operator CURL-ARGUMENTS...: a request to a service's listener for operators.
operator() { curl -H "Authorization: Bearer $(cat "$SECKILL_ADMIN_TOKEN_FILE")" "$@"; }

plan() { echo "1..$1"; }

# check NAME COMMAND...: ok if the command succeeds; its output is shown if it does not.
check() {
    local name=$1 out
    shift
    number=$((number + 1))
    if out=$("$@" 2>&1); then
        echo "ok $number - $name"
    else
        printf '%s\n' "$out" | sed 's/^/# /'
        echo "not ok $number - $name"
        failed=$((failed + 1))
    fi
}

# status WANTED COMMAND...: does it exit with that status?
status() {
    local wanted=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" -eq "$wanted" ] || {
        echo "exit status $got instead of $wanted"
        return 1
    }
}

# says PATTERN COMMAND...: does its output (both streams) fit the extended pattern?  The exit
# status counts only where the command is `status WANTED ...`.
says() {
    local pattern=$1 out got=0
    shift
    out=$("$@" 2>&1) || got=$?
    printf '%s\n' "$out"
    [ "$1" != status ] || [ "$got" -eq 0 ] || return 1
    # Not through a pipe, which a grep that has found it leaves while it is written.
    grep -Eq -- "$pattern" <<<"$out"
}

# soon COMMAND...: try it until it succeeds, for as long as the slowest machine may need.
soon() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

# gone PID...: none of them runs.
gone() {
    local pid
    for pid in "$@"; do
        [ ! -e "/proc/$pid" ] || { grep -q "^$pid " "$owned" && ! is_own "$pid"; } || grep -qs '^State:.Z' "/proc/$pid/status" || return 1
    done
}

# closed PORT...: nobody listens there.
closed() {
    local port
    for port in "$@"; do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 1
    done
}

# wrap_seckilld <SCRIPT: the laboratory beside a seckilld of the test's own, which is a bash
# script and may call "$seckilld"; the laboratory that runs it is then $wrapped.
wrap_seckilld() {
    mkdir "$work/bin"
    # /proc/self/exe decides where seckilld is looked for, so these are no links.
    cp "$seckill" "$root"/build/libdlock.so.? "$work/bin/"
    ln -s "$root/loadtest" "$root/docker" "$work/"
    {
        printf '#!/bin/bash\nseckilld=%q\nwork=%q\n' "$seckilld" "$work"
        cat
    } >"$work/bin/seckilld"
    chmod +x "$work/bin/seckilld"
    # shellcheck disable=SC2034  # for who sources this
    wrapped=$work/bin/seckill
}

done_testing() { [ "$failed" -eq 0 ]; }
