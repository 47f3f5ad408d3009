#!/bin/bash
# SPDX-License-Identifier: MIT
# lab.sh -- the private servers start and stop, as root and as an ordinary user, and leave nothing:
# no process, no port, no directory.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 40

# as USER COMMAND...: run the command as that user, from a copy that the user can read.
copy=$work/copy
mkdir -p "$copy" "$work/home"
cp "$seckill" "$copy/"
chmod -R a+rX "$work"
chmod 1777 "$work/home"
as() {
    local user=$1
    shift
    if [ "$user" = "$(id -un)" ]; then "$@"; else su -s /bin/bash "$user" -c "$(printf '%q ' "$@")"; fi
}

# The parts of the lab: pids, ports, PostgreSQL's place.
remember() {
    mapfile -t lab_pids < <(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$1/state.json")
    mapfile -t lab_ports < <(sed -n 's/.*"port": \([0-9]*\).*/\1/p' "$1/state.json")
    place=$(sed -n 's/.*"data_root": "\(.*\)",/\1/p' "$1/state.json")
    [ ${#lab_pids[@]} -eq 7 ] && [ ${#lab_ports[@]} -eq 7 ]
}
nothing_left() {
    soon gone "${lab_pids[@]}" && closed "${lab_ports[@]}" && [ ! -e "$place" ] &&
        [ ! -e "$1" ]
}
private() { [ "$(stat -c %a "$1")" = 700 ] && [ "$(stat -c %a "$1/env")" = 600 ]; }
vouchers() {
    bash -c '. "$1/env" && psql -qAt "$SECKILL_DATABASE_URL" -c "SELECT count(*) FROM tb_voucher"' vouchers "$1"
}
answers() { [ "$(vouchers "$1")" = 0 ]; }
pong() {
    # shellcheck disable=SC2016  # the inner shell has the variables
    bash -c '. "$1/env" && redis-cli --no-auth-warning -u "$SECKILL_REDIS_URL" PING' pong "$1"
}

users=("$(id -un)")
[ "$(id -u)" -ne 0 ] || users+=(nobody)
[ ${#users[@]} -eq 2 ] || users+=("$(id -un)") # an ordinary user: the same once more

for user in "${users[@]}"; do
    lab=$work/home/lab-$user-$RANDOM
    labs+=("$lab")
    check "$user: a lab comes up" as "$user" "$copy/seckill" lab up --dir "$lab"
    check "$user: it is private" private "$lab"
    remember "$lab"
    check "$user: its database answers the service" answers "$lab"
    check "$user: redis-cli takes the URL of its Redis server" test "$(pong "$lab")" = PONG
    check "$user: up again says that it is up" says '^already up' \
        as "$user" "$copy/seckill" lab up --dir "$lab"
    check "$user: it goes down" as "$user" "$copy/seckill" lab down --dir "$lab"
    check "$user: and leaves nothing" nothing_left "$lab"
    check "$user: down again is fine" as "$user" "$copy/seckill" lab down --dir "$lab"
done

interrupt_at() {
    local lab=$work/home/cut-$1 pid place
    labs+=("$lab")
    "$seckill" lab up --dir "$lab" >"$work/cut.log" 2>&1 &
    pid=$!
    own "$pid"
    soon test -e "$lab/$1" || return 1
    place=$(sed -n 's/.*"data_root": "\(.*\)",/\1/p' "$lab/state.json")
    send INT "$pid"
    wait "$pid"
    [ ! -e "$lab" ] && ! pgrep -f "$lab/" && { [ -z "$place" ] || [ ! -e "$place" ]; }
}
check 'Ctrl-C while the lab comes up leaves nothing' interrupt_at redis.log
check 'nor a moment later' interrupt_at redlock-5.log

# In a path that the configurations of the servers have to escape: quotes and a backslash.
odd=$work/'o"d\nd'"'s"
labs+=("$odd/lab")
odd_path() {
    mkdir -p "$odd/data" && chmod 1777 "$odd/data" &&
        SECKILL_LAB_DATA=$odd/data "$seckill" lab up --dir="$odd/lab" --sentinel --standby --zookeeper &&
        answers "$odd/lab" && status 0 "$seckill" lab down --dir="$odd/lab" && [ -z "$(ls -A "$odd/data")" ]
}
check 'a lab comes up in a path with quotes and a backslash' odd_path
two_lines() {
    says 'has an end of line in its path' status 64 "$seckill" lab up --dir="$work/home/a"$'\n'b && [ -z "$(compgen -G "$work/home/a*")" ] &&
        SECKILL_LAB_DATA=$'/tmp/a\nb' status 64 "$seckill" lab up --dir="$work/home/never" && [ ! -e "$work/home/never" ]
}
check 'and not in one with an end of line: 64' two_lines

check 'a wrong flag of the service is refused before a lab is started' \
    says 'did you mean "lua"' status 64 "$seckill" load --dir="$work/home/none" --out="$work/none" -- --lock=lau
check 'and leaves no directory' test ! -e "$work/home/none" -a ! -e "$work/none"

# The servers of a lab that have ended are started again by the next command.
lab=$work/home/stale
labs+=("$lab")
kill_servers() { # PostgreSQL and three Redis servers
    remember "$lab"
    kill -KILL "${lab_pids[@]:0:4}"
    soon gone "${lab_pids[@]:0:4}"
}
"$seckill" lab up --dir "$lab" >/dev/null
"$seckill" seed --users=0 --vouchers=2 --dir "$lab" >/dev/null
removes_nothing() {
    says 'kill SERVER' status 64 "$seckill" lab down redis --dir "$lab" &&
        "$seckill" lab status --dir "$lab" >/dev/null
}
check 'down of one server is refused, and the lab stays' removes_nothing
check 'up of a topology without its dashes is refused' says '--sentinel' status 64 "$seckill" lab up sentinel --dir "$lab"
kill_servers
check 'a lab with dead servers is not up' status 69 "$seckill" lab status --dir "$lab"
check 'a command that needs the lab names the command that starts the dead server' \
    says 'start it again: seckill lab up ' status 69 "$seckill" seed --users=1 --dir "$lab"
check 'the next up starts them again' says 'redis of the lab .* starting it again' "$seckill" lab up --dir "$lab"
check 'and PostgreSQL has its vouchers' test "$(vouchers "$lab")" = 2
kill_servers
check 'so does a command that starts a lab if there is none' "$seckill" load --dir "$lab" --stock=1 --quiet --out="$work/runs"
check 'which leaves the lab up, with its vouchers' test "$(vouchers "$lab")" = 3
kill_servers
mv "$place" "$place.gone"
check 'a lab whose data is gone is removed, and a new one started' says 'its data is gone' "$seckill" lab up --dir "$lab"
rm -rf "$place.gone"
check 'without the vouchers' test "$(vouchers "$lab")" = 0
# SECKILL_LAB_DATA chooses where the servers write; the next lab removes what a dead starter left.
lab=$work/home/elsewhere
labs+=("$lab")
mkdir -m 1777 "$work/home/data"
with_data() { SECKILL_LAB_DATA=$1 "$seckill" lab up --zookeeper --dir "$lab"; }
writes_there() {
    case $place in "$work/home/data"/*) ;; *) return 1 ;; esac
    test -e "$place/postgres" && test -e "$place/zookeeper"
}
is_in_the_middle() { test -e "$lab/redis.log" && test -n "$(ls -A "$work/home/data")"; }
killed_in_the_middle() {
    local pid
    SECKILL_LAB_DATA=$work/home/data "$seckill" lab up --dir "$lab" >"$work/cut.log" 2>&1 &
    pid=$!
    own "$pid"
    soon is_in_the_middle || return 1
    send KILL "$pid"
    wait "$pid"
    "$seckill" lab down --dir "$lab"
}
# works_in PREFIX: does a process run whose working directory is there? (A Redis server has no
# directory in its command line.)
works_in() {
    local link
    for link in /proc/[0-9]*/cwd; do
        [[ $(readlink "$link") != "$1"* ]] || return 0
    done
    return 1
}
# At most of these times the lab is starting its servers, one after another.
killed_starting() {
    local lab i
    for i in {1..25}; do
        lab=$work/home/killed-$i
        labs+=("$lab")
        SECKILL_LAB_DATA=$work/home/data timeout -s KILL "0.0$((10 + RANDOM % 45))" \
            "$seckill" lab up --dir "$lab" >"$work/cut.log" 2>&1
        grep -q . "$work/cut.log" && return 1 # it had something to complain of
        "$seckill" lab down --dir "$lab" && ! works_in "$lab" || return 1
        test -z "$(ls -A "$work/home/data")" || return 1
    done
}
with_data "$work/home/data" >/dev/null
place=$(sed -n 's/.*"data_root": "\(.*\)",/\1/p' "$lab/state.json")
check 'the data goes where SECKILL_LAB_DATA says' writes_there
"$seckill" lab down --dir "$lab" >/dev/null
check 'and is removed with the lab' rmdir "$work/home/data"
check 'a place that is none is refused' says 'is no place' with_data "$work/home/data"
mkdir -m 1777 "$work/home/data"
killed_and_removed() { killed_in_the_middle && rmdir "$work/home/data"; }
check 'down removes it after a start that was killed' killed_and_removed
mkdir -m 1777 "$work/home/data"
check 'and no server that it was just starting goes on, and no data stays' killed_starting
mkdir "$work/home/mine" && touch "$work/home/mine/thesis.txt"
check 'a directory with other things is refused' status 64 "$seckill" lab down \
    --dir "$work/home/mine"
mkdir -p "$work/home/hidden/.git"
check 'so is one with hidden things only' status 64 "$seckill" lab down --dir "$work/home/hidden"
check 'which stay' test -d "$work/home/hidden/.git"
done_testing
