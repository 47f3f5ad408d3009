#!/bin/sh
# SPDX-License-Identifier: MIT
# standby.sh -- the standby of the profile `standby`: a copy of the primary, which follows it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    find "$PGDATA" -mindepth 1 -delete # of a copy that was cut off
    chmod 700 "$PGDATA"
    pg_basebackup -R -X stream -c fast -D "$PGDATA" \
        -d 'host=postgres user=seckill_lab application_name=standby'
fi
exec postgres -c hba_file=/etc/seckill/pg_hba.conf -c max_connections=600
