#!/bin/bash
# SPDX-License-Identifier: MIT
# check-size.sh -- no function over 60 lines, no file over 400, no line of C over 100 columns.
# A function is the text between a "{" and a "}" that each begin a line.
set -euo pipefail
failed=0
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.c' '*.h' '*.lua' '*.sh' '*.sql' '*.py' '*.java' tests/run tests/interop/run)
awk -v max_function=60 -v max_file=400 '
    FNR == 1      { if (NR > 1) measure(); name = FILENAME; start = 0 }
                  { lines = FNR }
    /^\{/         { start = FNR - 1 }
    /^\}/ && start { if (FNR - start + 1 > max_function) bad(name ":" start ": a function of " FNR - start + 1 " lines"); start = 0 }
    END           { measure(); exit failed }
    function measure() { if (lines > max_file) bad(name ": " lines " lines") }
    function bad(text) { print "check-size: " text; failed = 1 }
' "${files[@]}" || failed=1
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '[.][ch]$')
if LC_ALL=C.UTF-8 grep -nEH '^.{101}' "${sources[@]}" |
    sed -E 's/^([^:]*:[0-9]+):.*/check-size: \1: a line of more than 100 columns/' | grep .; then
    failed=1
fi
exit "$failed"
