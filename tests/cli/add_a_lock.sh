#!/bin/bash
# SPDX-License-Identifier: MIT
# add_a_lock.sh -- docs/how-to/add-a-lock.md, followed word for word in a copy of the tree:
# its files and commands are taken from the page itself.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
page=$root/docs/how-to/add-a-lock.md
copy=$work/copy
labs+=("$copy/.lab")

# What is built already is copied with its times, so that make builds only what is new.
copy_tree() {
    mkdir "$copy" &&
        (cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$copy") &&
        mkdir -p "$copy/build/tests" &&
        cp -a "$root"/build/{obj,gen,seckill,seckilld,wall_clock.so} "$root"/build/libdlock* "$copy/build/" &&
        { [ ! -e "$root/build/tests/conformance" ] ||
            cp -a "$root/build/tests/conformance" "$copy/build/tests/"; }
}

# The blocks of the page, in order: 01.info has what stands behind the three backticks,
# 01.text has the lines.
split_page() {
    awk -v dir="$work/blocks/" '
        /^```/ && !inside { inside = 1; n++; file = sprintf("%s%02d", dir, n)
                            print substr($0, 4) > (file ".info"); printf "" > (file ".text"); next }
        /^```/ { inside = 0; next }
        inside { print > (file ".text") }' "$page"
}

# run BLOCK STATUS: every command of the block; all but the last must succeed.
run() { (cd "$copy" && status "$2" bash -euo pipefail "$1"); }

# write BLOCK FILE: the file must be new.
write() { [ ! -e "$copy/$2" ] && cp "$1" "$copy/$2"; }

mkdir "$work/blocks"
split_page
mapfile -t infos < <(cat "$work"/blocks/*.info)
plan $((${#infos[@]} + 5))
check 'a copy of the tree can be made' copy_tree
for i in "${!infos[@]}"; do
    block=$(printf '%s/blocks/%02d.text' "$work" $((i + 1)))
    info=${infos[i]}
    first=$(head -n 1 "$block")
    case $info in
    'c '*) check "the page's ${info#c } is a new file" write "$block" "${info#c }" ;;
    sh) check "the commands from \"$first\" on work" run "$block" 0 ;;
    'sh exits with '*) check "\"$first\" exits with ${info##* }" run "$block" "${info##* }" ;;
    *) check "the page says what to do with the block \"$info\"" false ;;
    esac
done
summaries=("$copy"/runs/2*/summary.md)
check 'without an expectation the cell says so' grep -q 'no expectation' "${summaries[0]}"
check 'without an expectation the summary says so' grep -q '"no_expectation": 1' "${summaries[0]%.md}.json"
# shellcheck disable=SC2016  # Markdown's quotes
check 'the new lock is a row of the table' grep -Eq '^\| `px` \| sound.*over' "${summaries[-1]}"
check 'the copy has the lock, the clone has not' status 1 grep -q px "$root/lock/variants.def"
done_testing
