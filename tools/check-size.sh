#!/bin/bash
# SPDX-License-Identifier: MIT
# check-size.sh -- no function over 60 lines, no file over 400.
# A function is what stands between a "{" and a "}" that each begin a line.
set -euo pipefail
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.c' '*.h' '*.lua' '*.sh' '*.sql' '*.py' '*.java' tests/run tests/interop/run)
awk -v max_function=60 -v max_file=400 '
    FNR == 1      { if (NR > 1) measure(); name = FILENAME; start = 0 }
                  { lines = FNR }
    /^\{/         { start = FNR - 1 }
    /^\}/ && start { if (FNR - start + 1 > max_function) bad(name ":" start ": a function of " FNR - start + 1 " lines"); start = 0 }
    END           { measure(); exit failed }
    function measure() { if (lines > max_file) bad(name ": " lines " lines") }
    function bad(text) { print "check-size: " text; failed = 1 }
' "${files[@]}"
