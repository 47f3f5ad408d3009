#!/bin/sh
# SPDX-License-Identifier: MIT
# redis-behind-sentinel.sh -- one of the Redis servers that the profile `sentinel` watches, as a
# replica of the server that the Sentinels name.
#
# The server keeps nothing on a disk, so it starts empty. If a master that died was started again,
# its replicas would copy its empty data, and every lock would be lost. So it waits until the
# Sentinels have named another server, and becomes a replica of that server.
set -eu
me=$(hostname)

named() {
    for sentinel in sentinel-1 sentinel-2 sentinel-3; do
        master=$(timeout 1 redis-cli -h "$sentinel" -p 26379 --raw \
            SENTINEL get-master-addr-by-name shop 2>/dev/null | head -n 1) || continue
        case $master in sentinel-redis-*) echo "$master" && return ;; esac
    done
}

master=$(named)
tries=0
# If all servers died at once, no other server can become the master, so the wait has a limit.
while [ "$master" = "$me" ] && [ "$tries" -lt 30 ]; do
    sleep 0.5
    tries=$((tries + 1))
    master=$(named)
done
master=${master:-sentinel-redis-1} # the first start: no Sentinel runs yet
set -- --save '' --appendonly no --protected-mode no --dir /data \
    --maxmemory 128mb --maxmemory-policy noeviction \
    --replica-announce-ip "$me" --min-replicas-to-write 1 --min-replicas-max-lag 2
[ "$master" = "$me" ] || set -- "$@" --replicaof "$master" 6379
exec redis-server "$@"
