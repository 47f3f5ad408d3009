#!/bin/bash
# SPDX-License-Identifier: MIT
# planted.sh SEEDS EXPLAINED [PATTERN] [MARKDOWN] -- plant bugs in the lock library, one after
# another, and print the number of seeds that the simulation needs to find each.
#
# The bugs are the patches of tests/mutants whose head has lines
#
#     Kind: a few words             for the table
#     Hunted-by: simulation VARIANT CLASS
#     Not-found: why                if no seed finds it: the reason
#
# Each line plays at most SEEDS seeds, from 1 on, or at most EXPLAINED seeds if it has a reason, so
# the figures are the same until the code changes. MARKDOWN is the file of the table. Exit: 0 all
# are found but those with a reason, 1 not, 70 a patch does not apply or build.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MFLAGS MAKELEVEL
seeds=$1 explained=$2 pattern=${3:-*} markdown=${4:-}
tree=$PWD/build/planted/tree
rows=$PWD/build/planted/rows
status=0 found=0 count=0
commit=$(git rev-parse --short=12 HEAD)

header() { sed -n "/^diff /q; s/^$2: *//p" "$1"; }
apply() { (cd "$tree" && GIT_CEILING_DIRECTORIES=$PWD/.. git apply "$@"); }
build() { make -C "$tree" -j2 build/tests/simulate >"$tree/output" 2>&1; }

# The kinds of tests that fail with it.
killers() { header "$1" Killed-by | sed 's/ .*//' | sort -u | paste -sd, | sed 's/,/, /g'; }

unable() {
    echo "planted: $1" >&2
    [ ! -s "$tree/output" ] || tail -n 15 "$tree/output" >&2
    exit 70
}

# hunt NAME PATCH VARIANT CLASS
hunt() {
    local said seed verdict most=$seeds
    count=$((count + 1))
    [ -z "$(header "$2" Not-found)" ] || [ "$explained" -ge "$seeds" ] || most=$explained
    said=$("$tree/build/tests/simulate" --hunt --seeds="$most" --variant="$3" \
        --class="$4" 2>&1) || true
    said=$(grep -v '^# ' <<<"$said") || true
    case $said in
    'not ok '*)
        found=$((found + 1))
        seed=$(sed -E 's/.*, after ([0-9]+): .*/\1/' <<<"$said")
        verdict=$(sed -E 's/.*, after [0-9]+: ([a-z-]+): .*/\1/' <<<"$said")
        printf 'found   %-30s %-9s %-6s %7s  %s\n' "$1" "$3" "$4" "$seed" "$verdict"
        ;;
    *': nothing in '*)
        seed="not in $most" verdict=$(header "$2" Not-found)
        printf 'MISSED  %-30s %-9s %-6s %s  %s\n' "$1" "$3" "$4" "$seed" "$verdict"
        [ -n "$verdict" ] || status=1
        ;;
    *) unable "the simulation says of $1: $said" ;;
    esac
    # shellcheck disable=SC2016  # the backquotes are those of markdown
    printf '| `%s` | %s | %s | `%s` `%s` | %s | %s |\n' "$1" "$(header "$2" Kind)" \
        "$(killers "$2")" "$3" "$4" "$seed" "$verdict" >>"$rows"
}

tests/simulation/not_hunted.sh || unable 'each patch that is not hunted needs a reason'
rm -rf build/planted
mkdir -p "$tree/build/tests"
cp -a Makefile app base db docs loadtest lock lua tests tools "$tree/"
for built in build/{gen,obj,libdlock.a} build/tests/simulate; do
    [ ! -e "$built" ] || cp -a "$built" "$tree/${built%/*}/"
done
trap 'rm -rf build/planted' EXIT
build || unable 'the unchanged tree does not build'
for patch in tests/mutants/*.patch; do
    name=$(basename "$patch" .patch)
    # shellcheck disable=SC2254  # the pattern is meant to be one
    case $name in $pattern) ;; *) continue ;; esac
    hunts=$(header "$patch" Hunted-by | sed -n 's/^simulation //p')
    [ -n "$hunts" ] || continue
    apply "$PWD/$patch" || unable "$name does not apply"
    build || unable "$name does not build"
    while read -r variant class; do hunt "$name" "$patch" "$variant" "$class"; done <<<"$hunts"
    apply -R "$PWD/$patch"
done
echo "$found of $count found"
[ "$count" -gt 0 ] || unable "no planted bug fits '$pattern'"
[ -z "$markdown" ] || {
    cat <<PAGE
# Planted bugs, and the seeds until the simulation finds them

\`make simulate-planted PLANTED_SEEDS=$seeds PLANTED_EXPLAINED=$explained MUTANTS='$pattern' \
MARKDOWN=$markdown\` wrote this table on $(date -u +%F) at commit $commit, on $(uname -m),
$(uname -sr), $(nproc) processors.

| bug | kind | tests | subject and class | seeds until found | verdict, or why it is not found |
|---|---|---|---|---|---|
PAGE
    cat "$rows"
} >"$markdown"
exit "$status"
