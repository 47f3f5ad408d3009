# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154  # tap.sh sets work, root and seckill
# pages.sh -- executes the blocks of Markdown pages; tools/pages.py describes the marks of a page.
# Source tap.sh first.
#
#     split_pages PAGE...     read the pages; $steps is how many checks follow_pages makes
#     follow_pages            follow them, each in a directory and with a lab of its own

steps=0
split_directories=()

split_pages() {
    local page directory kinds
    for page; do
        directory=$work/pages/${page//\//_}
        mkdir -p "$directory"
        "$root/tools/pages.py" split "$page" "$directory" || exit 70
        echo "$page" >"$directory/page"
        kinds=("$directory"/*.kind)
        steps=$((steps + ${#kinds[@]} + 1))
        split_directories+=("$directory")
    done
}

# make_place DIR: make the files that a reader has after `make`. The sources are copies, so that no
# page can change those of the clone.
make_place() {
    mkdir -p "$1" &&
        (cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 cp -a --parents -t "$1") &&
        ln -s "$root/build" "$1/build"
}

# begin_lab: start the lab of a page that uses one, before the page's own `lab up`, which then
# reports that it is up. A busy machine may need more than one attempt.
begin_lab() {
    local with=()
    ! grep -qs -- --zookeeper "$1"/*.text || with=(--zookeeper)
    grep -qs '\.lab\|seckill lab up' "$1"/*.text || return 0
    (cd "$place" && soon "$seckill" lab up "${with[@]}" >"$1/lab" 2>&1)
}

# step_script STEP: print the commands of a block, with the ports of this page's service, and with
# the variables that earlier blocks have set.
step_script() {
    local directory=${1%/*}
    printf 'set -euo pipefail\n[ ! -e %q ] || . %q\n' "$directory/environment" "$directory/environment"
    sed -e "s/127\.0\.0\.1:8081/127.0.0.1:$orders_port/g" -e "s/127\.0\.0\.1:8082/127.0.0.1:$admin_port/g" "$1.text"
    printf '\nexport -p >%q\n' "$directory/environment"
}

run_step() {
    local got=0
    (cd "$place" && bash "$1.script") </dev/null >"$1.out" 2>&1 || got=$?
    cat "$1.out"
    [ "$got" -eq "$(cat "$1.exits")" ] || { echo "exit status $got instead of $(cat "$1.exits")"; return 1; }
    [ ! -s "$1.says" ] || grep -Eq -- "$(cat "$1.says")" "$1.out" || { echo "it does not say $(cat "$1.says")"; return 1; }
}

# begin_step STEP: run the step as a process group of its own, until the page ends. It is not run in
# a check, because the subshell of the check would own the job.
begin_step() {
    # The shell that leads the group ends after the program that it runs.
    { echo "trap 'exit 143' TERM" && step_script "$1"; } >"$1.script"
    (cd "$place" && exec setsid bash "$1.script") </dev/null >"$1.out" 2>&1 &
    groups+=("$!")
    own "$!"
}
has_begun() { soon grep -Eq -- "$(cat "$1.says")" "$1.out" || { cat "$1.out"; return 1; }; }

write_step() {
    local path
    path=$place/$(cat "$1.path")
    mkdir -p "${path%/*}" && cp "$1.text" "$path"
}

# leave_page: end the processes and the lab of a page.
leave_page() {
    local group
    for group in ${groups[@]+"${groups[@]}"}; do
        is_own "$group" || { echo "a program of the page has ended by itself"; return 1; }
        kill -TERM -- "-$group"
        soon gone "$group" || { kill -KILL -- "-$group"; echo "a program of the page does not stop"; return 1; }
    done
    [ ! -e "$place/.lab" ] || "$seckill" lab down --dir "$place/.lab"
}

follow_page() {
    local directory=$1 page step name groups=()
    page=$(cat "$directory/page")
    place=$directory/place
    labs+=("$place/.lab")
    { read -r orders_port && read -r admin_port; } < <("$root/tools/free_ports.py" 2)
    export SECKILL_LISTEN=127.0.0.1:$orders_port SECKILL_ADMIN_LISTEN=127.0.0.1:$admin_port
    make_place "$place" || exit 70
    begin_lab "$directory" || { cat "$directory/lab"; exit 69; }
    for step in "$directory"/*.kind; do
        step=${step%.kind}
        name="${page##*/}: $(cat "$step.first")"
        case $(cat "$step.kind") in
        file) check "${page##*/}: the file $(cat "$step.path")" write_step "$step" ;;
        until) begin_step "$step"; check "$name" has_begun "$step" ;;
        run) step_script "$step" >"$step.script"; check "$name" run_step "$step" ;;
        esac
    done
    check "${page##*/}: what it began comes to an end" leave_page
}

follow_pages() {
    local directory
    for directory in "${split_directories[@]}"; do follow_page "$directory"; done
}
