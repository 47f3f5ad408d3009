#!/bin/bash
# SPDX-License-Identifier: MIT
# analyze.sh [FILE...] -- clang's analyzer and cppcheck over every source, or over these.
#
# The preprocessor's flags come in the environment: CPPFLAGS, from `make analyze`.  Nothing is
# suppressed but what tools/analyze.supp lists, each with the reason above it.
# Exit 1: there are reports; they are printed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70
[ -n "${CPPFLAGS:-}" ] || { echo 'analyze: call it through make analyze' >&2; exit 64; }
mapfile -t files < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else git ls-files -co --exclude-standard -- '*.c'; fi)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-2}

# shellcheck disable=SC2086  # the flags are words
clang_says() {
    printf '%s\0' "${files[@]}" |
        xargs -0 -n 1 -P "$jobs" clang --analyze -std=c11 -D_GNU_SOURCE $CPPFLAGS \
            -Xclang -analyzer-output=text \
            -Xclang -analyzer-checker=optin.portability,nullability,security.insecureAPI.vfork \
            -Qunused-arguments 2>"$work/clang"
    # The same report of a header comes once for each file that includes it.
    grep -E '(warning|error):' "$work/clang" | sort -u >"$work/clang-reports"
    cat "$work/clang-reports"
}

# The loops of utlist and uthash, as cppcheck can follow them.
loops=(
    '-DDL_FOREACH(head,el)=for(el=head;el;el=(el)->next)'
    '-DDL_FOREACH_SAFE(head,el,tmp)=for(el=head;el&&(tmp=(el)->next,1);el=tmp)'
    '-DHASH_ITER(hh,head,el,tmp)=for(el=head;el&&(tmp=(el)->hh.next,1);el=tmp)'
)

# shellcheck disable=SC2086
cppcheck_says() {
    cppcheck --quiet -j "$jobs" --std=c11 --language=c -D_GNU_SOURCE "${loops[@]}" -I. -Ibuild \
        --enable=warning,performance,portability --inline-suppr \
        --suppressions-list="$work/suppressions" --suppress=missingIncludeSystem \
        --template='{file}:{line}: {severity}: {message} [{id}]' "${files[@]}" 2>&1 | sort -u
}

grep -vE '^(#|$)' tools/analyze.supp >"$work/suppressions"
clang=$(clang_says)
cppcheck=$(cppcheck_says)
[ -z "$clang" ] || { echo "--- clang's analyzer"; cat "$work/clang"; }
[ -z "$cppcheck" ] || printf -- '--- cppcheck\n%s\n' "$cppcheck"
printf '%d sources: %d reports of clang, %d of cppcheck\n' "${#files[@]}" \
    "$(grep -c . <<<"$clang")" "$(grep -c . <<<"$cppcheck")"
[ -z "$clang$cppcheck" ]
