#!/bin/bash
# SPDX-License-Identifier: MIT
# twice.sh SHARD PROGRAM... -- run a shard of conformance; what failed runs once more, alone.
#
# Many laws stand on leases of a quarter of a second, and a disk or a processor that stands
# still for longer breaks them whatever the locks do.  A law counts as failed if it fails both
# times; one that needed its second run says so in its line.  A crash, a report of a sanitizer
# and a plan that was not kept count at once.
set -uo pipefail

shard=$1
shift
output=$(mktemp)
trap 'rm -f "$output" "$output.again"' EXIT
"$@" --shard "$shard" >"$output" 2>&1
status=$?

failed=$(sed -nE 's/^not ok [0-9]+ - (.*)$/\1/p' "$output")
plan=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$output")
ran=$(grep -cE '^(not )?ok ' "$output")
if [ "$status" -eq 1 ] && [ -n "$failed" ] && [ "$ran" = "$plan" ] &&
    ! grep -qE 'Sanitizer|runtime error' "$output"; then
    status=0
    while IFS= read -r name; do
        if "$@" --only "$name" </dev/null >"$output.again" 2>&1 &&
            grep -q '^ok ' "$output.again"; then
            number=$(awk -v name="$name" '/^not ok / && substr($0, index($0, " - ") + 3) == name {
                print NR; exit}' "$output")
            sed -i "${number}s/^not ok \(.*\)/ok \1 (at the second run)/" "$output"
        else
            sed 's/^/# again: /' "$output.again" >>"$output"
            status=1
        fi
    done <<<"$failed"
fi
cat "$output"
exit "$status"
