#!/bin/bash
# SPDX-License-Identifier: MIT
# full_disk.sh -- files that cannot be written because there is no room: 73, at once, and the file's
# name.  A limit of the size of files stands for the disk, because mounting one needs root.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 1
lab=$work/lab
labs+=("$lab")

"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"

# with_room KIB COMMAND...: no file that it writes gets larger.
with_room() { (trap '' XFSZ && ulimit -f "$1" && shift && exec "$@"); }

# It would ask for 30 s a store that has answered.
record() {
    local begin=$SECONDS
    says "cannot write the record $work/record/.*[.]dlockrec: File too large; make room on its disk" \
        status 73 with_room 64 "$seckilld" --listen=127.0.0.1:0 --admin-listen=127.0.0.1:0 --record="$work/record" &&
        [ $((SECONDS - begin)) -lt 20 ]
}
check 'a record without room: seckilld ends at once with 73, and names the file' record
done_testing
