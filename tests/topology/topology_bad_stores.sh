#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_bad_stores.sh -- when a Redis or a Sentinel cannot serve, the service at its start and the command name
# the server and quote its error, in one line.
#
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 37
cd "$work" || exit 1

(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >key && echo >>key)
mapfile -t ports < <("$root/tools/free_ports.py" 5)
nowhere=${ports[4]}

# serve PORT ARGUMENT...
serve() {
    mkdir -p "at-$1"
    redis-server "${@:2}" --bind 127.0.0.1 --port "$1" --dir "$work/at-$1" >"log-$1" 2>&1 &
    own $!
    soon listens "$1"
}
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
serve "${ports[0]}" --save '' --user default on '>secret' '~*' '&*' +@all --user weak on '>w' +ping
serve "${ports[1]}" --save '' --replicaof 127.0.0.1 "$nowhere" --replica-serve-stale-data no
echo "sentinel monitor shop 127.0.0.1 ${ports[0]} 2" >sentinel.conf
serve "${ports[2]}" sentinel.conf --sentinel
serve "${ports[3]}" --save '' --replicaof 127.0.0.1 "$nowhere"

# names WHAT ADDRESS TEXT: the service and `seckill lock $command` fail at this address, and print TEXT.
names() {
    local got=0
    timeout 30 "$seckilld" --redis-url="$2" --database-url="postgresql://nobody@127.0.0.1:$nowhere/none" \
        --token-key-file="$work/key" --start-timeout=1s --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 >out 2>&1 || got=$?
    check "$1: the service exits with 69" test "$got" = 69
    check "$1: the service says so" grep -Eq "error .*Redis is not available for --lock=reentrant.*$3" out
    cat out >>all
    got=0
    timeout 30 "$seckill" lock "$command" seat --redis-url="$2" >out 2>&1 || got=$?
    cat out >>all
    check "$1: so does the command" test "$got" = 69 -a "$(grep -Ec "$3" out)" = 1 -a "$(wc -l <out)" = 1
}
command=show
names 'no password' "redis://127.0.0.1:${ports[0]}" "127.0.0.1:${ports[0]}: NOAUTH Authentication required"
names 'a wrong password' "redis://:hush-hush@127.0.0.1:${ports[0]}" "127.0.0.1:${ports[0]}: WRONGPASS invalid"
names 'a user without rights' "redis://weak:w@127.0.0.1:${ports[0]}" "127.0.0.1:${ports[0]}: NOPERM "
at=127.0.0.1:${ports[0]}
names 'a wrong password (cluster)' "redis-cluster://:hush-hush@$at" "$at: WRONGPASS invalid"
names 'no right to ask a cluster' "redis-cluster://weak:w@$at" "$at: NOPERM "
names 'no right to ask for the role' "redis-sentinel://weak:w@127.0.0.1:${ports[2]}/shop" \
    "$at: NOPERM "
check 'the service does not ask again after a refusal that lasts' \
    test "$(grep -Ec 'WRONGPASS|NOPERM' all)" = 10 -a \
    "$(grep -E 'WRONGPASS|NOPERM' all | grep -c 'of trying')" = 0
names 'a replica without its master' "redis://127.0.0.1:${ports[1]}" 'MASTERDOWN Link with MASTER is down'
command=force
names 'a replica' "redis://127.0.0.1:${ports[3]}" 'READONLY You can.t write against a read only replica'
command=show
names 'a name that no Sentinel knows' "redis-sentinel://127.0.0.1:${ports[2]}/other" 'master other: .*No such master with that name'
names 'Sentinels that are away' "redis-sentinel://127.0.0.1:$nowhere/shop" 'no Sentinel led to master shop: .*Connection refused'
names 'a host without an address' 'redis://nowhere.invalid' 'nowhere.invalid:6379: (Name or service not known|Temporary failure)'
check 'an address that cannot be read is refused, with what is wrong' \
    says 'the Redis URL cannot be read, at character 11: a port is a number from 1 to 65535; it has to be redis://' status 64 "$seckill" lock show seat --redis-url=redis://h:12x
check 'and with the forms that are accepted' says 'begins with none of the schemes.*redis://.*redis-sentinel://.*redis-cluster://.*rediss' \
    status 64 "$seckill" lock show seat --redis-url=http://h
check 'no password is shown' test "$(grep -c 'hush-hush' all)" = 0 -a "$(grep -c WRONGPASS all)" -ge 2
done_testing
