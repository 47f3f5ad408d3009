#!/bin/bash
# SPDX-License-Identifier: MIT
# analyze.sh [FILE...] -- clang's analyzer and cppcheck over every source, or over these.
#
# The preprocessor's flags come in the environment: CPPFLAGS, from `make analyze`.  JOBS
# sources (the number of processors) are analyzed at once.  Nothing is suppressed but what
# tools/analyze.supp lists and what `cppcheck-suppress` comments say, each with a reason.
# Exit 0: both programs have read every source and report nothing.  Exit 1: there are reports,
# which are printed, or a program has failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70
[ -n "${CPPFLAGS:-}" ] || { echo 'analyze: call it through make analyze' >&2; exit 64; }
mapfile -t files < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else git ls-files -co --exclude-standard -- '*.c'; fi)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-$(nproc)}

# clang_reads FILE NUMBER: write the reports to a file for this source, and one line to the standard
# output when it is done.
clang_reads() {
    # shellcheck disable=SC2086  # the flags are words
    clang --analyze -std=c11 -D_GNU_SOURCE $CPPFLAGS -Xclang -analyzer-output=text \
        -Xclang -analyzer-checker=optin.portability,nullability,security.insecureAPI.vfork \
        -Qunused-arguments "$1" >"$work/clang.$2" 2>&1 ||
        echo "$1: error: clang failed with status $?" >>"$work/clang.$2"
    echo "$1"
}
export -f clang_reads
export CPPFLAGS work

# progress COUNT: print a line after every fiftieth line of input.
progress() {
    local done_count=0
    while read -r _; do
        done_count=$((done_count + 1))
        [ $((done_count % 50)) -ne 0 ] || printf 'analyze: clang has read %d of %d sources, %d s\n' \
            "$done_count" "$1" "$SECONDS" >&2
    done
}

clang_says() {
    local i
    for i in "${!files[@]}"; do printf '%s\0%s\0' "${files[i]}" "$i"; done |
        xargs -0 -n 2 -P "$jobs" bash -c 'clang_reads "$@"' clang_reads | progress "${#files[@]}"
    cat "$work"/clang.*
}

# A report in a header occurs once for each file that includes it.
reports_of() { grep -E '(warning|error):' "$1" | sort -u; }

cppcheck_says() {
    local status=0
    mkdir "$work/between" # with this directory cppcheck follows values from one source into another
    cppcheck --quiet -j "$jobs" --cppcheck-build-dir="$work/between" --std=c11 --language=c -D_GNU_SOURCE --include=tools/analyze_facts.h \
        -I. -Ibuild --enable=warning,performance,portability --inline-suppr --error-exitcode=2 \
        --suppressions-list="$work/suppressions" --suppress=missingIncludeSystem \
        --template='{file}:{line}: {severity}: {message} [{id}]' "${files[@]}" >"$work/cppcheck" 2>&1 || status=$?
    sort -u "$work/cppcheck"
    [ "$status" -eq 0 ] || [ -s "$work/cppcheck" ] || echo "cppcheck: error: it failed with status $status"
}

grep -vE '^(#|$)' tools/analyze.supp >"$work/suppressions"
clang_says >"$work/clang"
clang=$(reports_of "$work/clang")
echo 'analyze: cppcheck reads them' >&2
cppcheck=$(cppcheck_says)
[ -z "$clang" ] || { echo "--- clang's analyzer"; cat "$work/clang"; }
[ -z "$cppcheck" ] || printf -- '--- cppcheck\n%s\n' "$cppcheck"
printf '%d sources: %d reports of clang, %d of cppcheck\n' "${#files[@]}" \
    "$(grep -c . <<<"$clang")" "$(grep -c . <<<"$cppcheck")"
[ -z "$clang$cppcheck" ]
