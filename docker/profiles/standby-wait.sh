#!/bin/sh
# SPDX-License-Identifier: MIT
# standby-wait.sh -- makes every COMMIT of the primary wait for the standby, so that a promotion
# loses no acknowledged order.
set -eu
primary='postgresql://seckill_lab@postgres:5432,standby:5432/seckill?target_session_attrs=read-write'
ask() { psql "$primary" --no-psqlrc -qAtX -v ON_ERROR_STOP=1 "$@"; }
tries=0
until [ "$(ask -c "SELECT count(*) FROM pg_stat_replication
        WHERE application_name = 'standby' AND state = 'streaming'")" = 1 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || { echo 'standby-wait: no standby follows the primary' >&2 && exit 1; }
    sleep 0.5
done
ask -c "ALTER SYSTEM SET synchronous_standby_names = 'standby'" -c 'SELECT pg_reload_conf()' >/dev/null
