#!/bin/bash
# SPDX-License-Identifier: MIT
# mutants.sh -- `make mutants` distinguishes killed mutants, survivors and invalid
# patches, and leaves no files or processes.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
export MUTANTS_DIR=$work/mutants
mkdir -p "$MUTANTS_DIR"

# mutant NAME TEST SED-SCRIPT: make a mutant of lock/token.c.
mutant() {
    sed "$3" lock/token.c >"$work/token.c"
    {
        printf 'Broken: what %s says.\nKilled-by: %s\n\n' "$1" "$2"
        diff -U1 --label a/lock/token.c --label b/lock/token.c lock/token.c "$work/token.c"
    } | sed 's|^--- a|diff --git a/lock/token.c b/lock/token.c\n&|' >"$MUTANTS_DIR/$1.patch"
}
mutant killed 'unit test_lock_basics' 's/0123456789abcdef/0123456789abcdeg/'
mutant survivor 'unit test_lock_basics' 's/128 random bits/Random bits/'
mutant hanging 'unit test_lock_basics' 's/i < sizeof(bytes)/i <= sizeof(bytes)/; s/i++/i = 0/'
mutant unbuildable 'unit test_lock_basics' 's/dlock_random_bytes(/dlock_no_such_call(/'
mutant nameless 'unit test_of_nothing' 's/128 random bits/Random bits/'
mutant untold 'scenario no-such lua' 's/128 random bits/Random bits/'
mutant stale 'unit test_lock_basics' 's/128 random bits/Random bits/'
sed -i 's/128 random bits/127 random bits/' "$MUTANTS_DIR/stale.patch"

mutants() { tests/mutants/run "$@"; }
leaves_nothing() { [ ! -e build/mutants ] && git diff --quiet -- lock/token.c; }

interrupted() {
    tests/mutants/run hanging >"$work/log" 2>&1 &
    own "$!"
    soon test -e build/mutants/changed/build/tests/unit || return 1
    send TERM "$!"
    status 130 wait "$!" && leaves_nothing
}

plan 13
check 'a mutant that a test notices is killed, and its killer is named' \
    says '^killed +killed +unit: test_lock_basics: tokens_are_hex_and_never' mutants killed
check 'the last line counts' says '^1 of 1 killed$' mutants killed
check 'a mutant that no test notices survives, and says what it breaks' \
    says '^SURVIVED +survivor +what survivor says' mutants survivor
check 'that fails' status 1 mutants survivor
check 'a mutant that hangs is stopped, and killed' \
    says '^killed +hanging .*hangs: stopped after 1[0-9] s' mutants hanging
check 'a mutant that does not build is an error' says '^ERROR +unbuildable +it does not build' mutants unbuildable
check 'a mutant that does not apply any more says what to do' \
    says '^ERROR +stale +the patch no longer applies: make the change anew' mutants --check
check 'a mutant that names no test is an error' \
    says '^ERROR +nameless +there is no tests/unit/test_of_nothing.c' mutants --check
check 'a mutant that names no story is an error' \
    says '^ERROR +untold +there is no loadtest/scenario/scenarios/no_such.c' mutants --check
check 'a mutant that the simulation does not hunt needs a reason' \
    says '^not_hunted: stale has neither a line Hunted-by: nor a line Not-hunted:$' tests/simulation/not_hunted.sh
check 'errors fail in a way of their own' status 70 mutants stale
check 'a pattern that fits nothing is refused' status 64 mutants no-such
check 'an interrupt ends the run, and no file is left' interrupted
done_testing
