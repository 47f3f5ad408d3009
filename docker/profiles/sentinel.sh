#!/bin/sh
# SPDX-License-Identifier: MIT
# sentinel.sh -- one of the three Sentinels of the profile `sentinel`.
#
# A Sentinel does not start if the name of its master has no address, and the name of a stopped
# container has none. So it asks the other Sentinels for the present master.
set -eu
me=$(hostname)
master=sentinel-redis-1
for other in sentinel-1 sentinel-2 sentinel-3; do
    [ "$other" != "$me" ] || continue
    answer=$(timeout 1 redis-cli -h "$other" -p 26379 --raw \
        SENTINEL get-master-addr-by-name shop 2>/dev/null | head -n 1) || continue
    case $answer in sentinel-redis-*) master=$answer && break ;; esac
done
cat >/data/sentinel.conf <<CONF
port 26379
dir /data
protected-mode no
sentinel resolve-hostnames yes
sentinel announce-hostnames yes
sentinel announce-ip $me
sentinel monitor shop $master 6379 2
sentinel down-after-milliseconds shop 1000
sentinel failover-timeout shop 5000
CONF
exec redis-server /data/sentinel.conf --sentinel
