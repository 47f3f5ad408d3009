#!/bin/bash
# SPDX-License-Identifier: MIT
# check-security.sh -- does every test that SECURITY.md names exist?
# In a cell of its tables, `tests/FILE` names a file, and the `names` behind it are in that file.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0 file=
# shellcheck disable=SC2016  # backquotes of Markdown
while IFS= read -r word; do
    case $word in
        tests/*) file=$word; [ -f "$file" ] || { echo "check-security: there is no $file"; failed=1; } ;;
        *_*) [ ! -f "$file" ] || grep -qw -- "$word" "$file" || { echo "check-security: $file has no $word"; failed=1; } ;;
    esac
done < <(grep -E '^\|.*`tests/' SECURITY.md | sed 's/.*| \(`tests\)/\1/' | grep -oE '`[a-zA-Z0-9_/.-]+`' | tr -d '`')
[ -n "$file" ] || { echo 'check-security: SECURITY.md names no tests'; failed=1; }
exit $failed
