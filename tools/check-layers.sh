#!/bin/bash
# SPDX-License-Identifier: MIT
# check-layers.sh -- who may include what, and that every variant, guard and lie is listed.
# check-layers.sh -- who may include what, and that every variant, guard and check is listed.
set -euo pipefail
failed=0

# forbid PATTERN MESSAGE FILE...: no file may include a header that matches.
forbid() {
    local pattern=$1 message=$2 hits
    shift 2
    hits=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($pattern)" "$@" /dev/null || true)
    [ -z "$hits" ] || {
        printf 'check-layers: %s\n%s\n' "$message" "$hits"
        failed=1
    }
}
files() { git ls-files -co --exclude-standard -- "$@"; }

mapfile -t lock < <(files 'lock/*.c' 'lock/*.h')
mapfile -t lock_no_stores < <(files 'lock/*.c' 'lock/*.h' | grep -v '^lock/stores/')
mapfile -t base < <(files 'base/*.c' 'base/*.h')
mapfile -t db < <(files 'db/*.c' 'db/*.h')
mapfile -t app < <(files 'app/*.c' 'app/*.h')
mapfile -t app_no_http < <(files 'app/*.c' 'app/*.h' | grep -vxE 'app/http(_session)?.c')
mapfile -t lab < <(files 'loadtest/*.c' 'loadtest/*.h')
mapfile -t lab_no_blocking < <(files 'loadtest/*.c' 'loadtest/*.h' | grep -vxE 'loadtest/probe/(blocking|redis_connection).c')

forbid 'app/|db/|base/|loadtest/' 'the lock library stands alone' "${lock[@]}"
forbid 'hiredis/|libpq|zookeeper' 'only lock/stores/ talks to stores' "${lock_no_stores[@]}"
forbid 'app/|db/|lock/|loadtest/' 'base is below everything' "${base[@]}"
forbid 'app/|lock/|loadtest/|hiredis/|civetweb' 'db speaks SQL and nothing else' "${db[@]}"
forbid 'loadtest/|hiredis/|libpq|zookeeper' 'the service reaches stores through lock and db' "${app[@]}"
forbid 'civetweb' 'only app/http.c and app/http_session.c know civetweb' "${app_no_http[@]}" "${lab[@]}"
forbid 'app/|libpq|zookeeper' 'the laboratory speaks to the service over HTTP' "${lab[@]}"
forbid 'hiredis/' 'of the laboratory, only loadtest/probe/ knows hiredis' "${lab_no_blocking[@]}"

# listed FOLDER LIST MACRO: the files of a folder and the lines of its list are the same set.
listed() {
    diff <(files "$1/*.c" | sed 's|.*/||; s|\.c$||' | sort) \
        <(sed -nE "s/^$3\(([a-z_]+).*/\1/p" "$2" | sort) >/dev/null || {
        echo "check-layers: $2 does not list what is in $1/"
        failed=1
    }
}
listed lock/variants lock/variants.def VARIANT
listed db/guards db/guards.def GUARD
listed tests/conformance/wrong tests/conformance/wrong.def WRONG
listed loadtest/check/checks loadtest/check/checks.def CHECK
listed loadtest/fault/faults loadtest/fault/faults.def SERVER_FAULT
listed loadtest/scenario/scenarios loadtest/scenario/scenarios.def SCENARIO
exit $failed
