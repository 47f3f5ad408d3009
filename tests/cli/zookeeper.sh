#!/bin/bash
# SPDX-License-Identifier: MIT
# zookeeper.sh -- a lab with ZooKeeper starts and stops, gets ZooKeeper later, and restarts it; the
# laboratory's commands start ZooKeeper when a lock needs it; as root and as an ordinary user.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 20

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
other=nobody
[ "$(id -u)" -eq 0 ] || other=$(id -un) # an ordinary user: the same once more

remember() {
    mapfile -t lab_pids < <(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$1/state.json")
    mapfile -t lab_ports < <(sed -n 's/.*"port": \([0-9]*\).*/\1/p' "$1/state.json")
    [ ${#lab_pids[@]} -eq "$2" ] && [ ${#lab_ports[@]} -eq "$2" ]
}
nothing_left() { soon gone "${lab_pids[@]}" && closed "${lab_ports[@]}" && [ ! -e "$1" ]; }
url() { sed -n "s/^export SECKILL_ZOOKEEPER_URL='\(.*\)'/\1/p" "$1/env"; }
is_ok() {
    local port answer
    port=$(url "$1")
    port=${port##*:}
    exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf ruok >&3
    read -r -t 5 -N 4 answer <&3
    exec 3>&-
    [ "$answer" = imok ]
}
pid_of() { "$seckill" lab status --dir "$1" | sed -n 's/^zookeeper .*pid \([0-9]*\) .*/\1/p'; }

lab=$work/home/lab
labs+=("$lab")
check 'a lab comes up without it' "$seckill" lab up --dir "$lab"
check 'and has none' test -z "$(url "$lab")"
check 'up --zookeeper adds one' says 'zookeeper on [0-9]+' \
    "$seckill" lab up --zookeeper --dir "$lab"
remember "$lab" 8
check 'the environment says where it is, and it answers' is_ok "$lab"
check 'status shows it' says '^zookeeper +127.0.0.1:[0-9]+ +pid [0-9]+ +up' \
    "$seckill" lab status --dir "$lab"
before=$(pid_of "$lab")
check 'ZooKeeper can be restarted' says '^restarted: zookeeper' \
    "$seckill" lab restart zookeeper --dir "$lab"
check 'as another process' test "$(pid_of "$lab")" != "$before"
check 'that answers' is_ok "$lab"
remember "$lab" 8
kill -KILL "$(pid_of "$lab")"
check 'a lab whose ZooKeeper died is not up' soon status 69 \
    "$seckill" lab status --dir "$lab"
check 'the lab goes down' "$seckill" lab down --dir "$lab"
check 'and leaves nothing' nothing_left "$lab"

lab=$work/home/other
labs+=("$lab")
check "$other: a lab comes up with it" as "$other" "$copy/seckill" lab up --zookeeper --dir "$lab"
remember "$lab" 8
check "$other: it goes down" as "$other" "$copy/seckill" lab down --dir "$lab"
check "$other: and leaves nothing" nothing_left "$lab"

lab=$work/home/own
labs+=("$lab")
load() {
    "$seckill" load --dir="$lab" --out="$work/runs" --connections=4 --duration=1s -- --lock="$1"
}
check 'a load starts it for a lock that needs it, and says so' \
    says 'starting a lab with ZooKeeper' load zk-seq
check 'and takes it down' test ! -e "$lab"
empty=$work/bin
mkdir "$empty" && ln -s /usr/bin/redis-server "$empty/"

# A fake java whose port is taken by another server at the last moment of the first try.
robbed=$work/robbed
thief_pid=$work/thief.pid
mkdir "$robbed"
cat >"$robbed/java" <<END
#!/bin/bash
if [ ! -e '$thief_pid' ]; then
    config=\${!#}
    port=\$(sed -n 's/^clientPort=//p' "\$config")
    redis-server --port "\$port" --bind 127.0.0.1 --save '' --daemonize yes --pidfile '$thief_pid' >/dev/null
    until (exec 3<>"/dev/tcp/127.0.0.1/\$port") 2>/dev/null; do sleep 0.05; done
    echo "\$port" >'$work/thief.port'
fi
exec '$(command -v java)' "\$@"
END
chmod +x "$robbed/java"
with_robbed_java() { PATH=$robbed:$PATH "$seckill" lab up --zookeeper --dir "$lab"; }
check 'a port that another takes at the last moment costs a try' says 'another port' \
    with_robbed_java
check 'and the next port is its own' is_ok "$lab"
check 'which is not the one that was taken' \
    test "$(url "$lab")" != "127.0.0.1:$(cat "$work/thief.port")"
kill "$(cat "$thief_pid")"
"$seckill" lab down --dir "$lab" >/dev/null

without_java() { PATH=$empty "$seckill" lab up --zookeeper --dir "$lab"; }
check 'without java it says what to install' says 'apt-get install .*default-jre-headless' \
    without_java
done_testing
