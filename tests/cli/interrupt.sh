#!/bin/bash
# SPDX-License-Identifier: MIT
# interrupt.sh -- Ctrl-C before the first result of a command, and between its results.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 14
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# The tokens are made here, so that the loads below begin at once.
"$seckill" load --dir="$lab" --out="$work/first" --stock=10 --connections=2 --quiet >/dev/null 2>&1

# A wrk whose second process stops before it does anything.
mkdir "$work/path"
cat >"$work/path/wrk" <<END
#!/bin/bash
trap '' INT
if [ "\$SECKILL_CLIENT" = 2 ]; then
    echo "\$\$" >"$work/stopped.new" && mv "$work/stopped.new" "$work/stopped"
    kill -STOP "\$\$"
fi
exec $(printf %q "$(command -v wrk)") "\$@"
END
chmod +x "$work/path/wrk"

# threads_to_come: print how many threads the start signal waits for.
threads_to_come() {
    # shellcheck disable=SC2016  # the inner shell expands them
    bash -c '. "$1/env" && redis-cli --no-auth-warning -u "$SECKILL_REDIS_URL" EVAL "$2" 0' - "$lab" \
        "local name = redis.call('KEYS', 'seckill:start:*')[1]
         return name and redis.call('GET', name)"
}
one_thread_waits() { [ -s "$work/stopped" ] && [ "$(threads_to_come)" = 1 ]; }
# The laboratory deletes the signal also after it has killed both processes, which is too late.
second_is_free() { [ -z "$(threads_to_come)" ] && grep -q '^State:.T' "/proc/$(cat "$work/stopped")/status"; }

ends_before_its_start() {
    local load
    PATH=$work/path:$PATH "$seckill" load --dir="$lab" --out="$work/start" --quiet \
        >"$work/start.log" 2>&1 &
    load=$!
    own "$load"
    soon one_thread_waits || return 1
    own "$(cat "$work/stopped")"
    send INT "$load"
    soon second_is_free || return 1
    ln "$work/start/latest/wrk.txt" "$work/wrk.txt" || return 1
    kill -CONT "$(cat "$work/stopped")"
    status 130 wait "$load"
    cat "$work/start.log" "$work/wrk.txt"
    # Without the end of its patience, the thread that waited has seen the end, and sent no order.
    ! grep -q 'started without the start signal' "$work/wrk.txt" &&
        grep -q 'exit 130: interrupted; nothing was measured$' "$work/start.log"
}
check 'Ctrl-C wakes a wrk that waits for the start of the other wrk' ends_before_its_start

between_stories() {
    local scenario
    "$seckill" scenario run all --dir="$lab" --out="$work/stories" --jobs=1 --quiet \
        >"$work/stories.log" 2>"$work/stories.progress" &
    scenario=$!
    own "$scenario"
    soon grep -q 'as expected' "$work/stories.log" || return 1
    send INT "$scenario"
    status 130 wait "$scenario"
    local got=$?
    cat "$work/stories.log" "$work/stories.progress"
    return "$got"
}
check 'Ctrl-C between stories is 130' between_stories
# Each row that was printed is a result, and there is no other.
are_kept() {
    local printed
    printed=$(grep -cE '^S.* as expected ' "$work/stories.log")
    cat "$work/stories/latest/stories.json"
    jq -e --argjson printed "$printed" '[.cells[] | .verdict == "as expected"] | length == $printed and all' \
        "$work/stories/latest/stories.json" &&
        grep -q "^$printed of $printed as expected; an interrupt ended the run before the [0-9]* other" "$work/stories.log"
}
check 'the stories that were told are kept, and no others' are_kept
check 'the run has a report' status 0 "$seckill" report "$work/stories/latest"

names_and_links() { find "$1" -maxdepth 1 -printf '%f %l\n' 2>&1 | sort; }
# nothing_of OUT STATE COMMAND...: interrupt the command when STATE, a shell command, is true. It
# must say that nothing was measured, and leave the directory OUT as it was.
nothing_of() {
    local out=$1 state=$2 command got
    shift 2
    names_and_links "$out" >"$work/before"
    "$@" --out="$out" >"$work/nothing.log" 2>&1 &
    command=$!
    own "$command"
    soon eval "$state" || { cat "$work/nothing.log"; return 1; }
    send INT "$command"
    status 130 wait "$command"
    got=$?
    cat "$work/nothing.log"
    names_and_links "$out" >"$work/after"
    diff "$work/before" "$work/after" || return 1
    ! grep -E 'VALID|kept in' "$work/nothing.log" &&
        grep -q 'exit 130: interrupted; nothing was measured$' "$work/nothing.log" && [ "$got" -eq 0 ]
}
# A seckilld and a Redis server that never get ready.
wrap_seckilld <<'SCRIPT'
touch "$work/seckilld-begins"
exec sleep 600
SCRIPT
mkdir "$work/stuck"
printf '#!/bin/bash\ntouch %q\nexec sleep 600\n' "$work/redis-begins" >"$work/stuck/redis-server"
chmod +x "$work/stuck/redis-server"

# shellcheck disable=SC2016  # nothing_of evaluates it
check 'a load whose services do not run yet leaves the run before it' \
    nothing_of "$work/first" '[ -e "$work/seckilld-begins" ]' "$wrapped" load --dir="$lab"
rm "$work/seckilld-begins"
# shellcheck disable=SC2016
check 'so does a load at a fixed rate' \
    nothing_of "$work/first" '[ -e "$work/seckilld-begins" ]' "$wrapped" load --dir="$lab" --rate=100
# shellcheck disable=SC2016
check 'and a measurement of scenarios whose first performance goes on' nothing_of "$work/stories" \
    'compgen -G "$work/stories/latest/pause-storm-*/story.txt"' "$seckill" scenario run pause-storm --dir="$lab" --jobs=1
# shellcheck disable=SC2016
check 'and a comparison whose first run goes on' \
    nothing_of "$work/stories" '[ -e "$work/stories/latest/oversell/slow/none-1/wrk.txt" ]' \
    "$seckill" compare --dir="$lab" --locks=none,lua --hazards=slow --json-lines
# shellcheck disable=SC2016
check 'whose last line is the end without a directory' \
    eval 'grep "^{" "$work/nothing.log" | tail -n 1 | jq -e ".event == \"end\" and .exit == 130 and .dir == null and .not_done > 0"'
before_servers() {
    local out=$1
    shift
    rm -f "$work/redis-begins"
    # shellcheck disable=SC2016  # nothing_of evaluates it
    nothing_of "$out" '[ -e "$work/redis-begins" ]' env PATH="$work/stuck:$PATH" "$seckill" "$@" --dir="$work/other"
}
check 'and a matrix whose servers do not run yet' before_servers "$work/stories" matrix --locks=lua --seeds=1
check 'a comparison whose servers do not run yet leaves no directory' before_servers "$work/none" compare
check 'so does a bench' before_servers "$work/none" bench --json-lines
last_object() { grep '^{' "$work/nothing.log" | tail -n 1; }
check 'whose last line is the end, too' says '"event":"end",.*"exit":130,"dir":null' last_object

# Two loads with one directory of runs, of which the first is interrupted first.
two_loads() {
    local pid pids=()
    for _ in 1 2; do
        rm -f "$work/seckilld-begins"
        "$wrapped" load --dir="$lab" --out="$work/two" >>"$work/two.log" 2>&1 &
        pids+=($!)
        own "$!"
        soon test -e "$work/seckilld-begins" || return 1
    done
    for pid in "${pids[@]}"; do
        send INT "$pid"
        status 130 wait "$pid" || return 1
    done
    cat "$work/two.log"
    ls -la "$work/two"
    [ -z "$(ls -A "$work/two")" ]
}
check 'two loads with one directory of runs leave no link to nothing' two_loads
done_testing
