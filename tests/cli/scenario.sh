#!/bin/bash
# SPDX-License-Identifier: MIT
# scenario.sh -- the stories of the articles on real servers: a broken lock breaks and a
# sound one holds, the page names exactly the two holders, and impossible combinations
# are refused.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 39
lab=$work/lab
labs+=("$lab")

tell() { "$seckill" scenario run "$@" --dir "$lab" --out "$work/runs"; }
# has COUNT PATTERN FILE: does the pattern occur COUNT times?
has() { [ "$(grep -Eo -- "$2" "$3" | wc -l)" -eq "$1" ]; }
lacks() { ! grep -Eq -- "$1" "$2"; }
# beneath STEP PATTERN: is that a command of this step of the page?
beneath() { grep -Eq -- "$2" < <(sed -n "/<li data-x=.*$1/,/^<\/ul>/p" "$broken"); }

check 'the list names a story' says '^S4 +wrong-delete' "$seckill" scenario list
check 'and what must come of it' says 'breaks: setnx naive getset$' "$seckill" scenario list
check 'in Chinese too' says '误删了别人的锁' "$seckill" scenario list --language=zh
check 'the list for some locks has their outcomes' says '^      breaks: naive$' "$seckill" scenario list --locks=naive,lua
only_none() { says '^S5 ' "$seckill" scenario list --locks=none && ! says 'naive|^S4 ' "$seckill" scenario list --locks=none; }
check 'and no other locks and scenarios' only_none
check 'a list of nothing is refused' status 64 "$seckill" scenario list --locks=none --guard=fence
check 'the help teaches' says 'scenario run expired-lease --locks=lua' "$seckill" scenario --help
check 'a story that nobody knows is refused' status 64 tell wrong-deletes
check 'and the one that was meant is named' says 'did you mean "wrong-delete"' tell wrong-deletes
check 'a lock that nobody knows is refused' says 'did you mean "naive"' tell wrong-delete --locks=naiv
check 'a lock that the story is not about is refused' status 64 tell wrong-delete --locks=none
check 'a word too many is refused' status 64 "$seckill" scenario list all

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
broken=$work/broken.html
story() { tell wrong-delete --locks=naive --wire --html="$broken" >"$work/broken.txt"; }
check 'the wrong lock is deleted' status 0 story
check 'that was expected' grep -q 'naive: breaks, as expected' "$work/broken.txt"
check 'the command that did it is shown' grep -Eq 'Ann -> redis: DEL scenario:wrong-delete' \
    "$work/broken.txt"
check 'with what the store answered' grep -Eq 'Ann <- redis: \(integer\) 1' "$work/broken.txt"
check 'the holders at the same time are drawn' grep -Eq '^Chu, owner 1 .*X' "$work/broken.txt"
check 'the property that did not hold is named' grep -q 'nobody frees what another holds' "$work/broken.txt"
check 'the page has two holders' has 2 'class="holder"' "$broken"
check 'they are Bo and Chu' has 2 'class="holder"><span [^>]*>(Bo|Chu), pid [0-9]+' "$broken"
check 'the page has the commands' grep -Eq 'redis: DEL scenario:wrong-delete' "$broken"
check 'those of an act stand beneath it' \
    beneath 'Chu asks for the lock: ok' 'Chu</span>.* -&gt; redis: SET scenario:wrong-delete'
check 'its title says which story it is' \
    grep -q '<title>seckill scenario: wrong-delete</title>' "$broken"
check 'the page asks no network for anything' lacks '(src|href)=' "$broken"
for password in $(grep -Eo ':[0-9a-f]{16,}@' "$lab/env" | tr -d ':@' | sort -u); do
    check 'a password of the lab is not in it' lacks "$password" "$broken"
done

sound=$work/sound.html
check 'a script deletes only its own' says 'lua: holds, as expected' \
    tell wrong-delete --locks=lua --html="$sound"
check 'no holder is drawn as one too many' has 0 'class="holder"' "$sound"
check 'the resource refuses the older fence' says 'fenced: fenced off, as expected' \
    tell expired-lease --locks=fenced --guard=fence
fences_of_two() {
    tell expired-lease --locks=fenced --guard=fence >"$work/fences"
    says 'Ann asks for the lock: ok, fence 33' cat "$work/fences" &&
        says 'Bo asks for the lock: ok, fence 34' cat "$work/fences"
}
check 'which are 33 and 34, as it has always been told' fences_of_two
check 'several at once are a table' says '^3 of 3 as expected' tell check-gap --locks=owner,watch,lua \
    --markdown="$work/table.md"
# shellcheck disable=SC2016  # Markdown's quotes
check 'the table is a page of Markdown, too' test \
    "$(grep -cE '^\| S[0-9a-z]+ `check-gap` \| `(owner|watch|lua)` \| [a-z ]+ \| as expected \|' "$work/table.md")" -eq 3
# shellcheck disable=SC2016
check 'the page names the command' grep -q '^| command | `seckill scenario .*run check-gap' "$work/table.md"
check 'the records are left for the checker' status 1 \
    "$seckill" check "$work/runs/latest/check-gap-owner"

# Redis does not answer, so the first try is spoilt. A file is where the directory of the run was, so
# the next try cannot begin.
cannot_repeat() {
    local redis pid dir got=0
    redis=$(sed -nE 's/.*"pid": *([0-9]+).*/\1/p;T;q' <(grep -A8 '"name": "redis"' "$lab/state.json"))
    kill -STOP "$redis" || return 1
    tell forked --locks=lua,pg-row >"$work/repeat" 2>&1 &
    pid=$!
    own "$pid"
    soon grep -q '^S30 .*pg-row' "$work/repeat"
    dir=$(realpath "$work/runs/latest")
    mv "$dir" "$dir.away" && touch "$dir"
    soon grep -Eq 'cannot make|^S30 .*lua' "$work/repeat"
    rm -f "$dir" && mv "$dir.away" "$dir"
    wait "$pid" || got=$?
    kill -CONT "$redis"
    cat "$work/repeat"
    [ "$got" -ne 0 ]
}
check 'a story that cannot be repeated is no pass' cannot_repeat
check 'the reason is told' grep -Eq 'forked .*lua .*did not happen .*could not be started again' "$work/repeat"

"$seckill" lab down --dir "$lab" >/dev/null
check 'without servers it is no pass' status 69 env PATH="$work" \
    "$seckill" scenario run wrong-delete --locks=naive --dir "$work/none" --out "$work/runs"
check 'a lab of its own is taken down again' tell nested --locks=lua,reentrant
done_testing
