#!/bin/sh
# SPDX-License-Identifier: MIT
# hardening.sh COMPILER... -- print which of these compiler flags the compiler takes.
#
# Each line is one wish; the first form of it that compiles without a warning is printed.
# gcc 12 takes all, but is not asked for the zeroing of locals: where a local struct begins
# with a padded struct and goes on with an array of eight or more padded structs, gcc 12
# zeroes four bytes of the array's first element after the element was initialized
# (tests/cli/hardening.sh has the program).  clang 14 wants a second flag beside it, which
# clang 16 calls obsolete.  Only x86 knows -fcf-protection.  A C library without
# _FORTIFY_SOURCE=3 warns about it and is given 2.
set -u
[ $# -gt 0 ] || { echo 'usage: hardening.sh COMPILER...' >&2; exit 64; }

wishes='-fstack-protector-strong
-fstack-clash-protection
-fcf-protection
-ftrivial-auto-var-init=zero|-ftrivial-auto-var-init=zero -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang
-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3|-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2'

# takes FLAGS: does the compiler ($command) take them, without a word?
takes() {
    # shellcheck disable=SC2086  # both are lists of words
    printf '#include <string.h>\nint main(void) { return 0; }\n' |
        CCACHE_DISABLE=1 $command -O2 -Werror $1 -x c -c -o /dev/null - 2>/dev/null
}

command=$*
case $($command --version 2>/dev/null) in
    *clang*) ;;
    *) wishes=$(printf '%s\n' "$wishes" | grep -v trivial-auto-var-init) ;;
esac
# Nearly always every first form fits, so one run of the compiler is enough.
all=$(printf '%s\n' "$wishes" | cut -d '|' -f 1 | tr '\n' ' ')
if takes "$all"; then
    echo "$all"
    exit 0
fi
IFS='
'
for wish in $wishes; do
    IFS='|'
    for form in $wish; do
        IFS=' 	
'
        if takes "$form"; then
            printf '%s ' "$form"
            break
        fi
    done
done
echo
