# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# tap.sh -- functions that the tests of the command line share: TAP, a directory, labs.
#
# Source it, call `plan N`, then make N checks. A test keeps all its files below $work. At the end,
# also after a failure, every process that the test gave to `own` is killed and every lab in $labs
# is stopped.

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
# Lines "PID START-TIME". A check runs its command in a subshell, which can append to this file, but
# cannot change an array of this shell.
owned=$work/owned
: >"$owned"
number=0
failed=0

# The variables of another lab are removed, so that no test uses it by accident. SECKILL_LAB_DATA
# only says where labs write.
for name in $(compgen -e SECKILL_ || true); do
    [ "$name" = SECKILL_LAB_DATA ] || unset "$name"
done

# start_of PID: print the start time of the process, in clock ticks since the machine was started.
start_of() {
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    stat=${stat##*) } # the name of the program may contain blanks
    # shellcheck disable=SC2086  # fields
    set -- $stat
    echo "${20}"
}

# own PID...: note processes that were just started, so that finish kills them.
own() {
    local pid start
    for pid; do
        start=$(start_of "$pid") && echo "$pid $start" >>"$owned"
    done
}

# is_own PID: does a process that was given to `own` still exist? After a process has ended and was
# waited for, the kernel may give its number to a process of another test.
is_own() {
    local start
    start=$(start_of "$1") && grep -qx "$1 $start" "$owned"
}

# hears PID: does the process, if it still runs, handle SIGINT? A program that a script starts in
# the background ignores SIGINT until it installs a handler.
hears() {
    local mask
    mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ -z "$mask" ] || ((0x$mask & 2)) || gone "$1"
}

# send SIGNAL PID...: send the signal to those processes of `own` that still exist; SIGINT only
# after they handle it.
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
    # A test that was interrupted in `lab up` has a lab that is not in $labs.
    while read -r lab; do
        "$seckill" lab down --dir "${lab%/state.json}" </dev/null >/dev/null 2>&1
    done < <(find "$work" -name state.json)
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# operator CURL-ARGUMENTS...: send a request to a service's listener for operators.
operator() { curl -H "Authorization: Bearer $(cat "$SECKILL_ADMIN_TOKEN_FILE")" "$@"; }

plan() { echo "1..$1"; }

# check NAME COMMAND...: print ok if the command succeeds; else print its output and not ok.
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

# status WANTED COMMAND...: does the command exit with that status?
status() {
    local wanted=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" -eq "$wanted" ] || {
        echo "exit status $got instead of $wanted"
        return 1
    }
}

# says PATTERN COMMAND...: does the output of the command (both streams) fit the extended pattern?
# The exit status counts only if the command is `status WANTED ...`.
says() {
    local pattern=$1 out got=0
    shift
    out=$("$@" 2>&1) || got=$?
    printf '%s\n' "$out"
    [ "$1" != status ] || [ "$got" -eq 0 ] || return 1
    # Not through a pipe: grep -q ends at the first match, and the writer would then get SIGPIPE.
    grep -Eq -- "$pattern" <<<"$out"
}

# soon COMMAND...: repeat the command until it succeeds, for up to two minutes.
soon() {
    local deadline=$((SECONDS + 120))
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

# gone PID...: has each of these processes ended?
gone() {
    local pid
    for pid in "$@"; do
        [ ! -e "/proc/$pid" ] || { grep -q "^$pid " "$owned" && ! is_own "$pid"; } || grep -qs '^State:.Z' "/proc/$pid/status" || return 1
    done
}

# closed PORT...: does no server listen on these ports?
closed() {
    local port
    for port in "$@"; do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 1
    done
}

# wrap_seckilld <SCRIPT: make a copy of the laboratory beside a seckilld that is a bash script of
# the test; the script may call "$seckilld". $wrapped is the laboratory that starts the script.
wrap_seckilld() {
    mkdir "$work/bin"
    # The laboratory looks for seckilld beside /proc/self/exe, so it has to be a copy and no link.
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
