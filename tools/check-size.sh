#!/bin/bash
# SPDX-License-Identifier: MIT
# check-size.sh -- no function over 60 lines, no file over 400.
# A function is what stands between a "{" and a "}" that each begin a line.
set -euo pipefail
# These are longer, and by how much is written here: a line is "FILE LINES".
longer='
loadtest/bench/idle.c 428
'
mapfile -t files < <(git ls-files -co --exclude-standard -- '*.c' '*.h' '*.lua' '*.sh' '*.sql' '*.py' '*.java' tests/run tests/interop/run)
awk -v max_function=60 -v max_file=400 -v longer="${longer//$'\n'/ }" '
    BEGIN         { count = split(longer, words); for (i = 1; i < count; i += 2) most[words[i]] = words[i + 1] }
    FNR == 1      { if (NR > 1) measure(); name = FILENAME; start = 0 }
                  { lines = FNR }
    /^\{/         { start = FNR - 1 }
    /^\}/ && start { if (FNR - start + 1 > max_function) bad(name ":" start ": a function of " FNR - start + 1 " lines"); start = 0 }
    END           { measure(); exit failed }
    function measure() { if (lines > (name in most ? most[name] : max_file)) bad(name ": " lines " lines") }
    function bad(text) { print "check-size: " text; failed = 1 }
' "${files[@]}"
