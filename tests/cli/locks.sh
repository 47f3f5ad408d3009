#!/bin/bash
# SPDX-License-Identifier: MIT
# locks.sh -- the table of locks, the help texts, and what is said about mistakes.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 14

every_lock() {
    local out lock name count=0
    out=$("$seckill" locks) || return 1
    for lock in "$root"/lock/variants/*.c; do
        name=$(basename "$lock" .c)
        printf '%s\n' "$out" | grep -q "^${name//_/-} " || {
            echo "no $name"
            return 1
        }
        count=$((count + 1))
    done
    [ "$count" -ge 7 ]
}
same_names() {
    diff <("$seckill" locks | sed -n '2,$p' | grep -v '^ ' | cut -d' ' -f1) \
        <("$seckill" locks --json | sed -n 's/.*"name": "\(.*\)",/\1/p')
}

check 'the table has every lock' every_lock
check 'each line says what breaks it' says 'breaks: ' "$seckill" locks
check 'the JSON has the same locks' same_names
check '--help teaches' says 'seckill compare --locks=' "$seckill" --help
for command in compare lab seed load audit locks bench; do
    check "$command --help has an example" says "^  (seckill|SECKILL_).*$command" \
        "$seckill" "$command" --help
done
check 'an unknown command is refused with the nearest' \
    says 'did you mean "compare"' "$seckill" comapre
check 'an unknown lock is refused with the nearest' \
    says 'did you mean "redlock"' "$seckill" compare --locks=redlok
check 'both are usage errors' status 64 "$seckill" compare --hazards=nothing
done_testing
