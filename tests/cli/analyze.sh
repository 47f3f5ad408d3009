#!/bin/bash
# SPDX-License-Identifier: MIT
# analyze.sh -- `make analyze` fails for a report of either program and for a program that
# fails, and only then.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
export CPPFLAGS="-I. -Ibuild -I$work"

cat >"$work/clean.c" <<'END'
int clean(const int *number);
int clean(const int *number)
{
    return number ? *number : 0;
}
END
# cppcheck sees a pointer that is tested too late; clang's analyzer does not.
cat >"$work/late.c" <<'END'
int late(const int *number);
int late(const int *number)
{
    int value = *number;

    return number ? value : 0;
}
END
# clang's analyzer reads a macro of the system as it is; cppcheck does not know it.
cat >"$work/planted.h" <<'END'
int planted(const char *name);
END
cat >"$work/planted.c" <<'END'
#include <stdlib.h>
#include <string.h>

#include "planted.h"

int planted(const char *name)
{
    return (int)strlen(getenv(name) ? "" : getenv(name));
}
END
printf 'int broken(\n' >"$work/broken.c"
mkdir "$work/no-clang" "$work/no-cppcheck"
printf '#!/bin/sh\nexit 3\n' | tee "$work/no-clang/clang" >"$work/no-cppcheck/cppcheck"
chmod +x "$work"/no-*/*

# analyze STATUS PATTERN FILE...: does it end with this status and say this?
analyze() {
    local wanted=$1 pattern=$2
    shift 2
    says "$pattern" status "$wanted" tools/analyze.sh "$@"
}
without() { PATH=$work/no-$1:$PATH analyze 1 "$2" "$work/clean.c"; }

plan 7
check 'a clean source gives 0' analyze 0 '^1 sources: 0 reports of clang, 0 of cppcheck$' "$work/clean.c"
check 'a null pointer that clang sees gives 1 and its place' analyze 1 'planted.c:8:.*[Nn]ull' "$work/clean.c" "$work/planted.c"
check 'a pointer that is tested too late gives 1 and its place' analyze 1 'late.c:4: .*null pointer' "$work/late.c"
check 'a source that clang cannot read gives 1' analyze 1 'broken.c.*error: ' "$work/broken.c"
check 'a source that is not there gives 1' analyze 1 'no such file' "$work/none.c"
check 'a clang that fails gives 1' without clang 'clean.c: error: clang failed with status 3'
check 'a cppcheck that fails gives 1' without cppcheck 'cppcheck: error: it failed with status 3'
done_testing
