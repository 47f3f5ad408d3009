# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# programs.sh -- runs test programs that print TAP, several at once, and counts their tests.
#
# Source it, set $logs to a directory, call `queue` for each program, the longest first, then
# `run_queue`, then `run_again` if failed programs are to be run again, then `conclude`, whose
# status is that of the whole run. $logs/times has a line for each program: its seconds, and the
# seconds of processor time of the program and of the children that it waited for. `slowest` prints
# the programs with the most processor time. The whole output of a failed program is printed as soon
# as it has ended.

# Programs are of five kinds, and $at_once is the number of each kind that runs at the same time.
# All kinds run at the same time: a program that waits leaves the processors to builds, checks of
# the sources, and programs that compute. A topology has six to twelve servers of its own, which
# reach their timeouts if they get no processor.
declare -A at_once=([builds]=1 [checks]=1 [computes]=2 [topologies]=4 [waits]=8)
declare -A running=([builds]=0 [checks]=0 [computes]=0 [topologies]=0 [waits]=0)
# The first program that fails ends the run.
fail_fast=false
again_at_most=8
tries_alone=3
only_alone=()
queued=()
timed=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/timed
# By process: its label. By label: its kind, the label of the build that it needs, its command, its
# start, its exit status, the numbers of its tests.
declare -A label_of=() kind_of=() needs_of=() command_of=() began_at=() status_of=()
declare -A ok_of=() bad_of=() skip_of=()

# end_programs: end the programs that still run. Each program is a process group of its own
# (setsid), so its children end with it.
end_programs() {
    local pid
    for pid in $(jobs -p); do kill -TERM -- "-$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
}

# shellcheck disable=SC2154  # $logs is the caller's
log_of() { printf '%s/%s.tap' "$logs" "${1//[ \/]/_}"; }

# count LABEL STATUS: read the TAP of a program that has ended.
count() {
    local label=$1 status=$2 file ok bad skip plan
    file=$(log_of "$label")
    # Hundreds of programs end, so one process reads the whole file.
    read -r ok bad skip plan < <(awk '
        /^ok /     { if (tolower($0) ~ /# skip/) skip++; else ok++ }
        /^not ok / { bad++ }
        /^1\.\./   { plan += substr($0, 4) }
        END        { print ok + 0, bad + 0, skip + 0, plan + 0 }' "$file")
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ] || [ $((ok + bad + skip)) -ne "$plan" ] ||
        [ "$plan" -eq 0 ]; then
        echo "# ended with status $status after $((ok + bad + skip)) of $plan tests" >>"$file"
        bad=$((bad + 1))
    fi
    status_of[$label]=$status ok_of[$label]=$ok bad_of[$label]=$bad skip_of[$label]=$skip
}

has_passed() { [ "${bad_of[$1]}" -eq 0 ] && [ "${skip_of[$1]}" -eq 0 ]; }

say_result() {
    local label=$1
    if has_passed "$label"; then
        printf 'ok    %-34s %d passed\n' "$label" "${ok_of[$label]}"
        grep -E '^# begun anew: ' "$(log_of "$label")" || true
    else
        printf 'FAIL  %-34s %d passed, %d failed, %d skipped\n' "$label" "${ok_of[$label]}" \
            "${bad_of[$label]}" "${skip_of[$label]}"
        sed 's/^/    | /' "$(log_of "$label")"
    fi
}

# launch LABEL: run its command in the background.
launch() {
    local file
    file=$(log_of "$1")
    # The & is inside of eval, so that $! is the leader of the new session and of its group.
    began_at[$1]=$EPOCHREALTIME
    eval "CMOCKA_MESSAGE_OUTPUT=TAP setsid ${command_of[$1]} >\"\$file\" 2>&1 </dev/null &"
    label_of[$!]=$1
    running[${kind_of[$1]}]=$((running[${kind_of[$1]}] + 1))
}

# reap: wait until one program has ended, and count its tests.
reap() {
    local pid status=0 label
    wait -n -p pid || status=$?
    # When two programs end at the same moment, `wait -n` may name none of them, but a wait for the
    # process id returns its status.
    if [ -z "${pid:-}" ]; then
        for pid in "${!label_of[@]}"; do break; done
        status=0 && wait "$pid" || status=$?
    fi
    label=${label_of[$pid]}
    unset "label_of[$pid]"
    running[${kind_of[$label]}]=$((running[${kind_of[$label]}] - 1))
    awk -v from="${began_at[$label]}" -v to="$EPOCHREALTIME" -v label="$label" \
        'END {printf "%7.1f s %7.1f s  %s\n", to - from, $1 + $2, label}' \
        "$(log_of "$label").processor" >>"$logs/times"
    count "$label" "$status"
    say_result "$label"
}

drain() { while [ ${#label_of[@]} -gt 0 ]; do reap; done; }

# queue KIND BUILD SECONDS LABEL COMMAND...: queue a program that may take SECONDS. The program
# BUILD must have passed before, if it is in the queue too; - is none.
queue() {
    local label=$4
    kind_of[$label]=$1 needs_of[$label]=$2
    command_of[$label]=$(printf '%q ' timeout -k 5 "$3" "$timed" "$(log_of "$label").processor" "${@:5}")
    queued+=("$label")
}

# is_due LABEL: may another program of its kind run, and has its build ended?
is_due() {
    local kind=${kind_of[$1]} build=${needs_of[$1]}
    [ "${running[$kind]}" -lt "${at_once[$kind]}" ] &&
        { [ -z "${kind_of[$build]:-}" ] || [ -n "${status_of[$build]:-}" ]; }
}

# begin LABEL: launch the program; if its build has failed, it has failed too.
begin() {
    local build=${needs_of[$1]}
    if [ -n "${status_of[$build]:-}" ] && ! has_passed "$build"; then
        echo "# not run: $build failed" >"$(log_of "$1")"
        count "$1" 1
        say_result "$1"
    else
        launch "$1"
    fi
}

run_queue() {
    local label later
    while [ ${#queued[@]} -gt 0 ] || [ ${#label_of[@]} -gt 0 ]; do
        later=()
        for label in ${queued[@]+"${queued[@]}"}; do
            if is_due "$label"; then begin "$label"; else later+=("$label"); fi
        done
        queued=(${later[@]+"${later[@]}"})
        [ ${#label_of[@]} -eq 0 ] || reap
        if $fail_fast && [ -n "$(failures)" ]; then end_programs && return; fi
    done
}

failures() {
    local label
    for label in "${!bad_of[@]}"; do has_passed "$label" || echo "$label"; done | sort
}

# has_crashed LABEL: did a signal end the program that shows a mistake in it? SIGKILL and SIGTERM
# come from outside, for example from `timeout`. cmocka leaves a failed test by longjmp(), and the
# threads of that test go on in memory that the next test uses; so a crash after a failed test may
# be a consequence of that failure.
has_crashed() {
    case ${status_of[$1]} in
    137 | 143) return 1 ;;
    *) [ "${status_of[$1]}" -ge 128 ] && ! has_failed_test "$1" ;;
    esac
}

has_failed_test() { grep -qE '^not ok [0-9]' "$(log_of "$1")"; }

# may_run_again LABEL: can another program, or a slow machine, have made it fail? Neither causes a
# sanitizer's report, a crash or a skipped test; and lint neither waits nor measures.
may_run_again() {
    local consequence='^$'
    # A failed test does not free its memory.
    ! has_failed_test "$1" || consequence='LeakSanitizer|byte\(s\) leaked'
    [[ ${kind_of[$1]} != @(builds|checks) ]] && ! has_crashed "$1" && [ "${skip_of[$1]}" -eq 0 ] &&
        ! grep -vE "$consequence" "$(log_of "$1")" | grep -E "$(
            printf '%s|' '(Thread|Address|Leak|Memory)Sanitizer' 'runtime error:' \
                'Test failed with exception' 'Segmentation fault' 'Bus error' 'Aborted' \
                'Illegal instruction' 'Floating point exception' 'core dumped'
            echo 'Assertion .* failed'
        )" >/dev/null
}

# before_again: a function that the caller may define; it prepares the second run of a program.
before_again() { :; }

# try_alone LABEL: run the program alone until it passes, at most $tries_alone times. A program that
# also takes too long alone hangs, and is not tried again.
try_alone() {
    local label=$1 try
    for ((try = 1; try <= tries_alone; try++)); do
        mv "$(log_of "$label")" "$(log_of "$label").$try"
        printf '\nAGAIN %s: alone, attempt %d of %d\n' "$label" "$try" "$tries_alone"
        before_again
        launch "$label"
        drain
        if has_passed "$label"; then
            only_alone+=("$label")
            return
        fi
        case ${status_of[$label]} in 124 | 137) return ;; esac
        may_run_again "$label" || return 0
    done
}

# run_again: run each failed program again, alone. If it passes then, the programs beside it
# disturbed it, or the machine was too slow: continuous integration shares a loaded machine, and
# such a failure says nothing about the code. The test still has to be repaired (CONTRIBUTING.md):
# the output of each failed attempt is printed, and the last line names the program. Nothing is run
# again if the failure of any program has another cause, or if more than $again_at_most programs
# failed.
run_again() {
    local label tried
    mapfile -t tried < <(failures)
    [ ${#tried[@]} -gt 0 ] && [ ${#tried[@]} -le "$again_at_most" ] || return 0
    for label in "${tried[@]}"; do may_run_again "$label" || return 0; done
    for label in "${tried[@]}"; do try_alone "$label"; done
}

# slowest COUNT: print the programs of $logs/times with the most processor time, and the sum of all.
slowest() {
    printf '%9s %9s\n' processor took
    sort -k3,3nr "$logs/times" | awk -v most="$1" '
        NR <= most { took = $1; processor = $3; sub(/^ *[^ ]+ s +[^ ]+ s  /, "")
                     printf "%7.1f s %7.1f s  %s\n", processor, took, $0 }'
    awk '{sum += $3} END {printf "%7.1f s            all %d programs\n", sum, NR}' "$logs/times"
}

# conclude: print the failed tests, and the sums.
conclude() {
    local label passed=0 failed=0 skipped=0
    while read -r label; do
        printf '\n--- %s (its whole output stands above, and in %s)\n' "$label" "$(log_of "$label")"
        grep -E '^not ok |# ended with status|^# not run|# (skip|SKIP)' "$(log_of "$label")" || true
    done < <(failures)
    for label in "${!bad_of[@]}"; do
        passed=$((passed + ok_of[$label])) failed=$((failed + bad_of[$label]))
        skipped=$((skipped + skip_of[$label]))
    done
    {
        printf '\n%d passed, %d failed, %d skipped' "$passed" "$failed" "$skipped"
        [ ${#only_alone[@]} -eq 0 ] || printf ', %d only alone: %s' "${#only_alone[@]}" \
            "$(printf '%s, ' "${only_alone[@]}" | sed 's/, $//')"
        printf '\n'
    } | tee "$logs/sum"
    [ "$failed" -eq 0 ] && [ "$skipped" -eq 0 ] && [ "$passed" -gt 0 ]
}
