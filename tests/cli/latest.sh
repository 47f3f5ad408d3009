#!/bin/bash
# SPDX-License-Identifier: MIT
# latest.sh -- the link `latest` beside the directories of runs: what a user has put in its place
# stays as it is.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 5
lab=$work/lab
labs+=("$lab")
runs=$work/runs
mkdir "$runs"

"$seckill" lab up --dir "$lab" >/dev/null || exit 1

# load_beside: make a run. Its directory is the only one whose name begins with a digit.
load_beside() {
    rm -rf "$runs"/[0-9]*
    "$seckill" load --dir="$lab" --out="$runs" --stock=10 --connections=2 --quiet
}
# stays COMMAND...: a run is made and says that `latest` stays, and then the command succeeds.
stays() {
    says "seckill: $runs/latest is no link of a run, and stays as it is; this run is $runs/[0-9]" status 0 load_beside &&
        test -e "$(echo "$runs"/[0-9]*)/verdict.json" && "$@"
}

echo mine >"$runs/latest"
check 'a file stays' stays grep -qx mine "$runs/latest"
rm "$runs/latest" && mkdir "$runs/latest" && touch "$runs/latest/mine"
check 'a directory stays' stays test -e "$runs/latest/mine" -a ! -L "$runs/latest"
rm -r "$runs/latest" && mkdir "$work/elsewhere" && ln -s "$work/elsewhere" "$runs/latest"
check 'a link to another place stays' stays test "$(readlink "$runs/latest")" = "$work/elsewhere"
links_to_the_run() { load_beside && [ "$(realpath "$runs/latest")" = "$(realpath "$runs"/[0-9]*)" ]; }
rm "$runs/latest"
check 'without any of them the run is linked' links_to_the_run
check 'and so is the next run' links_to_the_run
done_testing
