#!/bin/bash
# SPDX-License-Identifier: MIT
# conformance.sh -- the options of the program of the laws, with the lock `local`, which needs no
# server.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 5
export SECKILL_REDIS_URL=none SECKILL_REDLOCK_URLS=none SECKILL_DATABASE_URL=none \
    SECKILL_LAB_DATABASE_URL=none SECKILL_ZOOKEEPER_URL=none SECKILL_ETCD_URL=none
laws=("$root/build/tests/conformance")
cd "$root" || exit 1

"${laws[@]}" --wrong acquire-always-ok:local --fail-fast --jobs=1 >"$work/said" 2>&1
got=$?
sed "s/^/# /" "$work/said"
check 'the first failure of a wrong lock ends its laws' \
    test "$got,$(grep -cE '^(not )?ok' "$work/said"),$(grep -c '^not ok 1 - ' "$work/said")" = 1,1,1
check 'it is printed with the call, the answer and the place' says \
    '#   rig_try.* #     answered ok, not busy;  #   tests/conformance/laws_exclusion.c:[0-9]+: ' \
    paste -sd' ' "$work/said"
check 'the other cases are counted' says \
    '^Bail out! --fail-fast: 0 cases were ended, and [1-9][0-9]* did not begin$' cat "$work/said"
"${laws[@]}" --only 'local: excludes a second owner' >"$work/said" 2>&1
check 'the real lock keeps the law, and no other line is printed' \
    test "$? $(tr '\n' ' ' <"$work/said")" = '0 1..1 ok 1 - local: excludes a second owner '
check 'less than one job is refused' status 64 "${laws[@]}" --jobs=0
done_testing
