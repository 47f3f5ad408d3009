#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh -- the order in which tests/run runs programs, the failed programs that --again runs once
# more, and the output.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 20

# A test program; the last part of its path says how it ends at the first run, or at each.
cat >"$work/program" <<'END'
#!/bin/bash
runs=$(($(cat "$1" 2>/dev/null || echo 0) + 1))
echo "$runs" >"$1"
echo "begin ${1##*/}" >>"${1%/*}/order"
printf '%s\n' 1..2 'ok 1 - begins' "# run $runs"
kind=${1##*/}
[ "$runs" -eq 1 ] || kind=${kind/#first*/passes}
case $kind:$runs in
third:[12]) echo 'not ok 2 - ends' && exit 1 ;;
killed:1) kill -KILL $$ ;;
alone-crash:1) echo 'not ok 2 - ends' && exit 1 ;;
alone-crash:2) kill -SEGV $$ ;;
first*) echo 'not ok 2 - ends' && exit 1 ;;
always*) echo 'not ok 2 - ends' && exit 1 ;;
lint:1) echo 'not ok 2 - ends' && exit 1 ;;
late:1 | hang:*) sleep 600 ;;
long:1) sleep 2 ;;
busy:1) for ((i = 0; i < 200000; i++)); do :; done ;;
race:1) echo 'WARNING: ThreadSanitizer: data race' && exit 66 ;;
overflow:1) echo 'a.c:1:1: runtime error: overflow' && exit 1 ;;
crash:1) kill -SEGV $$ ;;
failed-crash:1) echo 'not ok 2 - ends' && kill -ABRT $$ ;;
skip:1) echo 'ok 2 - ends # SKIP no server' && exit 0 ;;
esac
echo 'ok 2 - ends'
echo "end ${1##*/}" >>"${1%/*}/order"
END
chmod +x "$work/program"

# run_programs AGAIN NAME...: run the names as programs, two at once.
run_programs() {
    local again=$1
    shift
    rm -rf "$work/run" && mkdir -p "$work/run/logs"
    # shellcheck disable=SC2016  # it is the inner shell that expands them
    bash -c 'set -euo pipefail
        . "$1/tests/programs.sh"
        again=$2 program=$3/program run=$3/run logs=$3/run/logs
        shift 3
        for name; do
            limit=120
            case $name in late | hang) limit=5 ;; esac
            kind=computes build=-
            case $name in lint) kind=checks ;; needs-*) build=${name#needs-} ;; esac
            queue "$kind" "$build" "$limit" "$name" "$program" "$run/$name"
        done
        run_queue
        ! $again || run_again
        slowest 2
        conclude' - "$root" "$again" "$work" "$@"
}

# ran NAME TIMES
ran() {
    local runs
    runs=$(cat "$work/run/$1")
    [ "$runs" = "$2" ] || { echo "$1 ran $runs times" && return 1; }
}
# fails_at_once NAME: the program is not run again after its first failure.
fails_at_once() {
    says '^[0-9]+ passed, [01] failed, [01] skipped$' status 1 run_programs true passes "$1" &&
        ran "$1" 1
}

waits_for_its_build() {
    run_programs false needs-long long >/dev/null
    cat "$work/run/order"
    [ "$(tr '\n' ' ' <"$work/run/order")" = 'begin long end long begin needs-long end needs-long ' ]
}
is_not_run_without() {
    says '^# not run: always failed$' status 1 run_programs false always needs-always &&
        [ ! -e "$work/run/needs-always" ]
}
passes_alone() {
    says '^4 passed, 0 failed, 0 skipped, 1 only alone: first$' status 0 run_programs true first passes &&
        ran first 2 && ran passes 1
}
shows_what_it_printed() {
    local out
    out=$(run_programs true first passes)
    printf '%s\n' "$out"
    [ "$(grep -A 4 '^FAIL' <<<"$out")" = "FAIL  first                              1 passed, 1 failed, 0 skipped
    | 1..2
    | ok 1 - begins
    | # run 1
    | not ok 2 - ends" ] && grep -q '^AGAIN first: alone, attempt 1 of 3$' <<<"$out"
}
names_the_tests_that_failed() {
    says '^--- always [(]its whole output stands above' run_programs true always passes &&
        says '^not ok 2 - ends$' run_programs true always
}
waits_for_the_others() {
    run_programs true first long && tail -n 3 "$work/run/order" | tr '\n' ' ' >"$work/last"
    cat "$work/run/order"
    [ "$(cat "$work/last")" = 'end long begin first end first ' ]
}
fails_each_time() {
    says '^3 passed, 1 failed, 0 skipped$' status 1 run_programs true always passes &&
        ran always 4
}
passes_the_third_time() { says '1 only alone: third$' status 0 run_programs true third && ran third 3; }
crashes_alone() {
    says '^1 passed, 1 failed, 0 skipped$' status 1 run_programs true alone-crash && ran alone-crash 2
}
eight_pass_alone() {
    says '^18 passed, 0 failed, 0 skipped, 8 only alone: first-1, first-2, .*first-8$' status 0 \
        run_programs true first-{1..4} passes first-{5..8}
}
nine_are_too_many() {
    says '^9 passed, 9 failed, 0 skipped$' status 1 run_programs true first-{1..9} &&
        ran first-1 1 && ran first-9 1
}
# A program that sleeps takes longer than one that computes, and less processor time.
shows_what_computed() {
    local out
    out=$(run_programs false long busy)
    printf '%s\n' "$out"
    [ "$(grep -cE '^ +[0-9]+[.][0-9] s +[0-9]+[.][0-9] s  ' <<<"$out")" -eq 2 ] &&
        grep -A 1 '^ *processor' <<<"$out" | grep -qE ' s  busy$' &&
        grep -qE '^ +[0-9.]+ s +all 2 programs$' <<<"$out"
}
only_if_wanted() {
    says '^3 passed, 1 failed, 0 skipped$' status 1 run_programs false first passes &&
        ran first 1
}
late_passes_alone() {
    says '1 only alone: late$' status 0 run_programs true late passes && ran late 2
}
hangs_alone() { says '^1 passed, 1 failed, 0 skipped$' status 1 run_programs true hang && ran hang 2; }
failed_crash_passes_alone() {
    says '1 only alone: failed-crash$' status 0 run_programs true failed-crash && ran failed-crash 2
}
killed_passes_alone() { says '1 only alone: killed$' status 0 run_programs true killed && ran killed 2; }
reports_are_final() { fails_at_once race && fails_at_once overflow; }
# If a program failed for a reason of its own, the run has failed, so the others need no second try.
others_need_no_second_try() {
    says '^2 passed, 2 failed, 0 skipped$' status 1 run_programs true first crash && ran first 1
}

check 'a program waits for its build' waits_for_its_build
check 'and is not run, but has failed, without it' is_not_run_without
check 'a program that passes alone is counted, and the run passes' passes_alone
check 'its first output is printed whole' shows_what_it_printed
check 'the end of the run names each test that failed' names_the_tests_that_failed
check 'a program is run again when all others have ended' waits_for_the_others
check 'a program that fails alone three times, too, fails the run' fails_each_time
check 'a program that passes at its second attempt alone is counted' passes_the_third_time
check 'a crash alone is final' crashes_alone
check 'eight programs may be run again' eight_pass_alone
check 'of nine programs none is run again' nine_are_too_many
check 'no program is run again without --again' only_if_wanted
check 'the programs that took most processor time are shown' shows_what_computed
check 'a program that took too long is run again' late_passes_alone
check 'but once only' hangs_alone
check 'a program that another one killed is run again' killed_passes_alone
check 'a program that crashed after a failed test is run again' failed_crash_passes_alone
check 'a report of a sanitizer is final' reports_are_final
check 'a crash without a failed test, a failed lint and a skipped test are final' \
    eval 'fails_at_once crash && fails_at_once lint && fails_at_once skip'
check 'a final failure leaves the others as they are' others_need_no_second_try
done_testing
