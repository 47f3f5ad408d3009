#!/bin/bash
# SPDX-License-Identifier: MIT
# check-symbols.sh [LIBRARY] -- does libdlock.so show exactly what its headers declare?
#
# Three lists must be the same: the functions that the public headers declare (gcc reads
# them), those of lock/libdlock.map, and those that the library shows, each with the version
# that the map gives it.  A name that is added or taken away by accident is seen so.
# Exit 1: they differ; each name is printed with where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
map=lock/libdlock.map
library=${1:-build/$(sed -n 's/^#define SECKILL_LIBRARY "\(.*\)"/\1/p' base/text/version.h)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

[ -r "$library" ] || { echo "check-symbols: $library is not there; build it with: make lib" >&2; exit 1; }

printf '#include "lock/%s.h"\n' dlock dlock_async dlock_primitives >"$work/all.c"
gcc -std=c11 -I. -fsyntax-only -aux-info "$work/aux" "$work/all.c"
sed -nE 's|^/\* \./lock/.*\*/ extern [^(]*[ *](dlock_[a-z_]+) \(.*|\1|p' "$work/aux" | sort >"$work/headers"

# "name version" of each, from the map and from the library.
awk '/^[A-Z0-9_.]+ *\{/ {version = $1} /^ +dlock_[a-z_]+;/ {sub(";", "", $1); print $1, version}' \
    "$map" | sort >"$work/map"
nm -D --defined-only --with-symbol-versions "$library" |
    awk '$2 != "A" {sub("@@", " ", $3); sub("@", " ", $3); print $3}' | sort >"$work/library"
cut -d ' ' -f 1 "$work/map" >"$work/map-names"

# differ WANTED FOUND WHAT: is there a line of WANTED that FOUND lacks?
differ() {
    local missing
    missing=$(comm -23 "$1" "$2")
    [ -z "$missing" ] || {
        printf 'check-symbols: %s: %s\n' "$3" "${missing//$'\n'/, }"
        failed=1
    }
}
[ -s "$work/headers" ] || { echo 'check-symbols: the headers declare nothing' >&2; exit 70; }
differ "$work/headers" "$work/map-names" "a header declares what $map does not name"
differ "$work/map-names" "$work/headers" "$map names what no header declares"
differ "$work/map" "$work/library" "$map names what $library does not show"
differ "$work/library" "$work/map" "$library shows what $map does not name"
exit $failed
