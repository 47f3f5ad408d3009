#!/bin/bash
# SPDX-License-Identifier: MIT
# check-rooms.sh -- does every directory have a README.md of at most 20 lines, and do the files
# exist that it names?
set -euo pipefail
cd "$(dirname "$0")/.."
most=20
failed=0

complain() { echo "check-rooms: $1" && failed=1; }

# is_there ROOM NAME: a file or directory in the room, one level below, beside the room, or from the
# project's root; NAME may be a pattern, and a name without an ending stands for NAME.h and NAME.c.
is_there() {
    local place
    for place in "$1" "$1/*" "${1%/*}" .; do
        compgen -G "$place/$2" >/dev/null || compgen -G "$place/$2.*" >/dev/null && return
    done
    [[ $2 = build/* ]]
}

mapfile -t rooms < <(git ls-files -co --exclude-standard -- {app,base,db,examples,loadtest,lock,lua}/'**' |
    sed -nE 's,^((app|base|db|lock|loadtest)/[^/]+|app|db|lock|lua|examples)/[^/]*[.](c|h|lua|py)$,\1,p' | sort -u)
for room in "${rooms[@]}"; do
    [ -e "$room/README.md" ] || complain "$room/ has no README.md"
done
mapfile -t pages < <(git ls-files -co --exclude-standard -- {app,base,db,examples,loadtest,lock,lua,tests}/'**/README.md' {app,base,db,examples,loadtest,lock,lua,tests}/README.md | sort -u)
for page in "${pages[@]}"; do
    room=${page%/README.md}
    lines=$(wc -l <"$page")
    [ "$lines" -le "$most" ] || complain "$page has $lines lines; $most are the most"
    # Names of files in sentences, and all names in the first column of a table.
    # shellcheck disable=SC2016  # the quotes are those of Markdown
    while read -r name; do
        is_there "$room" "$name" || complain "$page: there is no $name"
    done < <({
        grep -oE '`[A-Za-z0-9_./*-]+(\.(c|h|def|lua|sh|py|js|css|html|svg|sql|go|java)|/)`' "$page" || true
        sed -nE 's/^\| ([^|]*) \|.*/\1/p' "$page" | grep -oE '`[a-z_./*-]+`' || true
    } | tr -d '`' | sort -u)
done
exit $failed
