#!/bin/bash
# SPDX-License-Identifier: MIT
# check-size.sh -- no function over 60 lines, no file over 500.
# A function is what stands between a "{" and a "}" that each begin a line.
set -euo pipefail
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.c' '*.h' '*.lua' '*.sh' '*.sql' '*.py' '*.java' tests/run tests/interop/run)
awk -v max_function=60 -v max_file=500 '
    FNR == 1      { if (NR > 1 && lines > max_file) bad(name ": " lines " lines"); name = FILENAME; start = 0 }
                  { lines = FNR }
    /^\{/         { start = FNR - 1 }
    /^\}/ && start { if (FNR - start + 1 > max_function) bad(name ":" start ": a function of " FNR - start + 1 " lines"); start = 0 }
    END           { if (lines > max_file) bad(name ": " lines " lines"); exit failed }
    function bad(text) { print "check-size: " text; failed = 1 }
' "${files[@]}"
