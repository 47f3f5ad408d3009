#!/bin/bash
# SPDX-License-Identifier: MIT
# lab_state.sh -- a state.json that is not of a lab, of another version, or damaged: no command takes
# it for a lab, nothing of another program is removed, and no server goes on without a word.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 21

# --- a directory of another program, which has a state.json too ---
other=$work/other
umask 022 # Debian 13 lets the group write
mkdir -p "$other/sub"
echo x >"$other/sub/thesis.txt"
say_other() { printf '%s\n' "$1" >"$other/state.json"; }
# stays COMMAND...: does the command leave every file as it was, and make none?
stays() {
    local before
    before=$(cd "$other" && find . -type f -exec cksum {} + && stat -c %a .)
    "$@" && [ "$before" = "$(cd "$other" && find . -type f -exec cksum {} + && stat -c %a .)" ]
}
say_other '{"version": 4, "terraform": true}'
check 'down of a directory with another state.json is refused' \
    stays says 'is no lab; nothing was removed' status 64 "$seckill" lab down --dir="$other"
check 'so is up' stays says 'holds other things' status 64 "$seckill" lab up --dir="$other"
check 'and status says that it is no lab' stays says 'does not describe a lab' status 69 \
    "$seckill" lab status --dir="$other"
all_refuse() {
    local state
    for state in '{}' '' 'text' '[]' '{"format": 3, "id": "a", "servers": []}'; do
        say_other "$state"
        stays status 64 "$seckill" lab down --dir="$other" || return 1
        stays status 64 "$seckill" load --dir="$other" --stock=10 --duration=1s --quiet --out="$work/runs" || return 1
    done
}
check 'so does a command that starts a lab if there is none, whatever state.json has' all_refuse

# quotes COMMAND...: can its suggestion be pasted, although the path has a blank?
spaced="$work/my lab"
quotes() { says "seckill lab up --dir='$spaced'$" status 69 "$seckill" "$@" --dir="$spaced"; }
suggestions() { quotes lab status && quotes seed --users=1 && quotes fault run server-stop --server=redis; }
check 'a suggested command quotes a directory with a blank' suggestions

# --- a lab of another version ---
lab=$work/lab
kept=$work/kept.json
labs+=("$lab")
up() {
    "$seckill" lab up --dir="$lab" >/dev/null && cp "$lab/state.json" "$kept" || return 1
    mapfile -t pids < <(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$kept")
    place=$(sed -n 's/.*"data_root": "\(.*\)",/\1/p' "$kept")
    [ ${#pids[@]} -eq 7 ]
}
run() { # every server runs, as the state file that was kept knows
    local pid
    for pid in "${pids[@]}"; do ! gone "$pid" || return 1; done
}
nothing_left() { soon gone "${pids[@]}" && [ ! -e "$place" ] && [ ! -e "$lab" ]; }
refuses() { # PATTERN: every command but down
    local pattern=$1
    says "$pattern" status 69 "$seckill" lab status --dir="$lab" &&
        says "$pattern" status 69 "$seckill" lab up --dir="$lab" &&
        says "$pattern" status 69 "$seckill" lab restart redis --dir="$lab" &&
        says "$pattern" status 69 "$seckill" seed --users=1 --dir="$lab" &&
        says "$pattern" status 69 "$seckill" fault run server-stop --server=redis --dir="$lab" &&
        says "$pattern" status 69 "$seckill" load --dir="$lab" --stock=10 --duration=1s --quiet --out="$work/runs" &&
        run
}
names_the_command() { refuses "$1" && says "seckill lab down --dir=$lab\$" status 69 "$seckill" lab status --dir="$lab"; }
up || exit 1
check 'so does the hint to check a run' says "seckill check '$spaced/[0-9TZ]*'$" \
    "$seckill" load --dir="$lab" --out="$spaced" --stock=10 --record --quiet
sed -i 's/"format": 3/"format": 4/' "$lab/state.json"
check 'a lab of another version is refused, with the command that ends it' \
    names_the_command 'has the format 4, .*format 3'
down_ends() { status 0 "$seckill" lab down --dir="$lab" && nothing_left; }
check 'and down ends it, because its processes can be read' down_ends

up || exit 1
sed -i 's/"redis_password"/"password_of_redis"/' "$lab/state.json"
check 'a lab without a password is damaged' refuses 'is damaged'
check 'and down ends it' down_ends

up || exit 1
sed -i 's/"format": 3/"format": 4/; s/"redlock-1"/"valkey-1"/' "$lab/state.json"
down_refuses() {
    says "$1" status 69 "$seckill" lab down --dir="$lab" && run && [ -e "$lab/env" ] && [ -e "$place" ]
}
check 'a lab with servers that only another version knows is left alone by down, too' \
    down_refuses 'end it with the version that started it'
cp "$kept" "$lab/state.json"
sed -i 's/"format": 3/"format": 4/; s|"data_root": ".*"|"data_root": "/tmp/anything"|' "$lab/state.json"
check 'so is one whose data is in a place that no lab chooses' down_refuses 'remove its data_root'
echo '{' >"$lab/state.json"
damaged() { refuses 'a lab may run there' && down_refuses 'a lab may run there'; }
check 'so is one whose state.json cannot be read' damaged
# names_the_servers: do the processes that the advice shows include every server of the lab?
names_the_servers() {
    local advice shown pid
    advice=$("$seckill" lab status --dir="$lab" 2>&1 | sed -n "s|.* whose log \(ls .*\) shows in $lab, .*|\1|p")
    echo "$advice"
    shown=$(bash -c "$advice" 2>&1 | grep -F -- "-> $lab/")
    for pid in "${pids[@]}"; do grep -q "/proc/$pid/" <<<"$shown" || { echo "$pid is not in: $shown" && return 1; }; done
}
check 'the advice shows its servers, and those of no other lab' names_the_servers
cp "$kept" "$lab/state.json"
sed -i 's|"data_root": ".*"|"data_root": "'"$other"'"|' "$lab/state.json"
check 'a whole state.json whose data is in such a place is refused' refuses 'is damaged'
check 'and nothing there is removed' stays down_refuses 'remove its data_root'

# --- a state.json that another user may have written ---
cp "$kept" "$lab/state.json"
distrusted() { refuses "is not trusted: $1" && down_refuses "is not trusted: $1"; }
writable() { chmod "$2" "$1" && distrusted 'other users may write to it' && chmod go-w "$1"; }
writable_by_others() {
    writable "$lab/state.json" 620 && writable "$lab/state.json" 602 &&
        writable "$lab" 770 && writable "$lab" 707
}
check 'a lab that others may write to is refused by every command' writable_by_others
another_users() {
    [ "$(id -u)" -eq 0 ] || return 0 # only root can give a file away
    chown 1 "$1" && distrusted 'it belongs to another user' && chown 0 "$1"
}
others_lab() { another_users "$lab/state.json" && another_users "$lab"; }
check 'so is one of another user' others_lab
symbolic() {
    mv "$lab/state.json" "$lab/to" && ln -s to "$lab/state.json" || return 1
    distrusted 'it is a symbolic link' && mv "$lab/to" "$lab/state.json"
}
check 'so is one whose state.json is a symbolic link' symbolic

# --- a process that has the pid and the start time of a server, but not its command ---
sleep 600 &
bystander=$!
own "$bystander"
names_the_bystander() {
    local start
    start=$(start_of "$bystander")
    jq --argjson pid "$bystander" --argjson start "$start" >"$lab/state.json" <"$kept" \
        '(.servers[] | select(.name == "redis")) |= (.pid = $pid | .start = $start)'
}
names_the_bystander
no_signal() {
    says '^redis .* DOWN' status 69 "$seckill" lab status --dir="$lab" &&
        status 0 "$seckill" lab kill redis --dir="$lab" && ! gone "$bystander"
}
check 'a process with another command than the server gets no signal' no_signal
cp "$kept" "$lab/state.json"
check 'with the right file it goes down' down_ends
done_testing
