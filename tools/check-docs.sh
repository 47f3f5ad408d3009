#!/bin/bash
# SPDX-License-Identifier: MIT
# check-docs.sh -- do the pages of docs/reference, the outcomes in the wrk scripts, and the alert
# rules and the dashboard in docker/ agree with the lists of the programs, and are the links, names
# and blocks of every page correct? Needs `make all`.
set -euo pipefail
cd "$(dirname "$0")/.."
written=$(mktemp -d)
trap 'rm -rf "$written"' EXIT
make -s build/obj/write-reference
mkdir -p "$written/docs/reference" "$written/loadtest/wrk" "$written/docker"
build/obj/write-reference "$written"
failed=0
for file in $(cd "$written" && find docs loadtest docker -type f); do
    diff "$file" "$written/$file" >"$written/diff" || {
        echo "check-docs: $file is stale; run: make docs"
        head -n 10 "$written/diff"
        failed=1
    }
done
tools/pages.py check || failed=1
exit $failed
