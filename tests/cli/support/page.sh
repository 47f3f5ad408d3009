# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# page.sh -- executes the commands of a page of docs/how-to that changes the project, in a copy of
# the tree. Source it after tap.sh.
#
# The word after the three backticks says what is done with a block:
#
#     c FILE               the block is the new file FILE
#     sh                   commands, each of which succeeds
#     sh exits with N      the same, but for the last, which exits with N
#     files                the files that are new or changed at that point, and no others
# shellcheck disable=SC2154  # tap.sh sets root and work

copy=$work/copy
labs+=("$copy/.lab")

# Built files are copied with their times, so that make builds only what is new.
copy_tree() {
    mkdir "$copy" &&
        (cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$copy") &&
        mkdir -p "$copy/build/tests" &&
        cp -a "$root"/build/{obj,gen,seckill,seckilld,wall_clock.so} "$root"/build/libdlock* "$copy/build/" &&
        { [ ! -e "$root/build/tests/conformance" ] ||
            cp -a "$root/build/tests/conformance" "$copy/build/tests/"; } &&
        (cd "$copy" && git init -q && git add -A &&
            git -c user.name=test -c user.email=test@localhost commit -qm 'the tree as it was')
}

# split_page PAGE: write the blocks of the page in order; 01.info has the words after the backticks,
# 01.text the lines.
split_page() {
    rm -rf "$work/blocks" && mkdir "$work/blocks"
    awk -v dir="$work/blocks/" '
        /^```/ && !inside { inside = 1; n++; file = sprintf("%s%02d", dir, n)
                            print substr($0, 4) > (file ".info"); printf "" > (file ".text"); next }
        /^```/ { inside = 0; next }
        inside { print > (file ".text") }' "$1"
    mapfile -t infos < <(cat "$work"/blocks/*.info)
}

# run_block BLOCK STATUS: run every command of the block; all but the last must succeed.
run_block() { (cd "$copy" && status "$2" bash -euo pipefail "$1"); }

# write_block BLOCK FILE: write the block to a file, which must not exist yet.
write_block() { [ ! -e "$copy/$2" ] && cp "$1" "$copy/$2"; }

# files_are BLOCK: do exactly the files of the block differ from the original tree?
files_are() {
    (cd "$copy" && git status --porcelain --untracked-files=all) | cut -c4- | sort |
        diff <(sort "$1") -
}

# page_checks PAGE: print the number of checks that follow_page makes.
page_checks() {
    echo $(($(grep -c '^```' "$1") / 2 + 1))
}

# follow_page PAGE: execute the page in a new copy of the tree, with page_checks PAGE checks.
follow_page() {
    local i block info first
    split_page "$1"
    check 'a copy of the tree can be made' copy_tree
    for i in "${!infos[@]}"; do
        block=$(printf '%s/blocks/%02d.text' "$work" $((i + 1)))
        info=${infos[i]}
        first=$(head -n 1 "$block")
        case $info in
        'c '*) check "the page's ${info#c } is a new file" write_block "$block" "${info#c }" ;;
        sh) check "the commands from \"$first\" on work" run_block "$block" 0 ;;
        'sh exits with '*) check "\"$first\" exits with ${info##* }" run_block "$block" "${info##* }" ;;
        files) check 'these files are new or changed, and no others' files_are "$block" ;;
        *) check "the page says what to do with the block \"$info\"" false ;;
        esac
    done
}
