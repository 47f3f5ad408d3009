#!/bin/bash
# SPDX-License-Identifier: MIT
# docs.sh -- every command on the pages does what its page says. docs_tutorials.sh executes the
# tutorials, which take as long again.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/pages.sh
. "$root/tests/cli/support/pages.sh"
cd "$root" || exit 70

mapfile -t pages < <(tools/pages.py runnable | grep -v ^docs/tutorial/)
split_pages "${pages[@]}"
plan $((steps + 1))

# For commands that a sentence names: does the command exist, and does it know these options?
known_commands() {
    local page line command help word wrong=0
    while IFS=$'\t' read -r page line; do
        read -r -a words <<<"$line"
        command=("$root/build/${words[0]}")
        if [ "${words[0]}" = seckill ]; then
            case ${words[1]} in help | -* | [A-Z]*) continue ;; esac
            command+=("${words[1]}")
        fi
        help=$("${command[@]}" --help 2>&1) || { echo "$page: no command: $line"; wrong=1; continue; }
        for word in "${words[@]}"; do
            case $word in
            --) break ;;
            --help) ;;
            --*) grep -q -- "^ *${word%%[=[]*}\b" <<<"$help" || { echo "$page: no option $word: $line"; wrong=1; } ;;
            esac
        done
    done < <(tools/pages.py mentions)
    return $wrong
}
check 'every command that a sentence names is there, with its options' known_commands
follow_pages
done_testing
