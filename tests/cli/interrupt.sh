#!/bin/bash
# SPDX-License-Identifier: MIT
# interrupt.sh -- Ctrl-C before the first result of a command, and between its results.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 4
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
    # shellcheck disable=SC1091  # written by the lab
    (. "$lab/env" && redis-cli --no-auth-warning -u "$SECKILL_REDIS_URL" EVAL "
        local name = redis.call('KEYS', 'seckill:start:*')[1]
        return name and redis.call('GET', name)" 0)
}
one_thread_waits() { [ -s "$work/stopped" ] && [ "$(threads_to_come)" = 1 ]; }
# The first number of the control file tells the threads to stop.
load_is_stopped() { [ "$(od -An -td8 -N8 "$work/start/latest/control")" -eq 1 ]; }

ends_before_its_start() {
    local load
    PATH=$work/path:$PATH "$seckill" load --dir="$lab" --out="$work/start" --quiet \
        >"$work/start.log" 2>&1 &
    load=$!
    own "$load"
    soon one_thread_waits || return 1
    own "$(cat "$work/stopped")"
    send INT "$load"
    soon load_is_stopped || return 1
    kill -CONT "$(cat "$work/stopped")"
    status 130 wait "$load"
    cat "$work/start.log" "$work/start/latest/wrk.txt"
    # Without the end of its patience, the thread that waited has seen the end, and sent no order.
    ! grep -q 'started without the gun' "$work/start/latest/wrk.txt" &&
        grep -q '^0 clients started' "$work/start.log"
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
done_testing
