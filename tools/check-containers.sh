#!/bin/bash
# SPDX-License-Identifier: MIT
# check-containers.sh -- every setting of the service is a variable of docker-compose.yml,
# and every variable there is a setting; .env.example shows the switches that differ.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
status=0

# Settings that a container does not need: a shop has no faults, nobody reads records on its disk,
# the container's name is the name of the process, and its image starts it as a user who is not
# root.
left_out='SECKILL_ALLOW_FAULTS SECKILL_PROCESS SECKILL_RECORD SECKILL_USER'

settings=$(grep -oE '^(TEXT|SECRET|CHOICE|COUNT|DURATION|SWITCH)\([a-z0-9_]+, *"[a-z0-9-]+"' app/config.def |
    sed -E 's/.*"(.*)"/SECKILL_\1/' | tr 'a-z-' 'A-Z_' | sort)
variables=$(awk '/^  [a-z]/ { inside = $1 == "seckilld:" } inside' docker-compose.yml |
    grep -oE '^ +SECKILL_[A-Z0-9_]+:' | tr -d ' :' | sort)
examples=$(grep -oE '^#?SECKILL_[A-Z0-9_]+' .env.example | tr -d '#' | sort -u)

# differ PREFIX A B: print the lines of A that are not in B.
differ() {
    local out
    out=$(comm -23 <(printf '%s\n' "$2") <(printf '%s\n' "$3"))
    [ -z "$out" ] || {
        while read -r name; do echo "$name: $1"; done <<<"$out"
        status=1
    }
}

if [ -z "$settings" ] || [ -z "$variables" ] || [ -z "$examples" ]; then
    echo 'found no settings in app/config.def, docker-compose.yml or .env.example'
    exit 1
fi
differ 'a setting of app/config.def that docker-compose.yml does not pass to seckilld' \
    "$settings" "$(tr ' ' '\n' <<<"$left_out $(tr '\n' ' ' <<<"$variables")" | sort)"
differ 'passed by docker-compose.yml, but app/config.def has no such setting' \
    "$variables" "$settings"
differ 'in .env.example, but docker-compose.yml does not pass it' "$examples" "$variables"
exit $status
