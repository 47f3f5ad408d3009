#!/bin/bash
# SPDX-License-Identifier: MIT
# check-layers.sh -- which room may include which headers, and whether every list names the files of
# its directory.
#
# tools/check-circles.sh looks for files that use each other.
set -euo pipefail
failed=0

# The files of each room, and the headers of the project that they may include.
rooms='
base/os/      base/os/
base/text/    base/(os|text)/
base/postgres/ base/(os|postgres)/
base/http/    base/(os|text|http)/
base/redis/   base/(os|redis)/
lock/record/  base/os/|lock/record/|lock/(dlock|dlock_variant|process|status)\.h
lock/         base/(os|redis|postgres)/|lock/
db/           base/(os|text|postgres)/|db/
app/          base/(os|text|http|redis)/|db/|lock/|app/
'

# The rooms of the laboratory, from the bottom up: each may include the rooms before it.
below=''
outcomes=''
for room in kit objective lab proxy probe audit check fault live sale open_loop expect compare bench scenario matrix page report show command; do
    below=$below${below:+|}$room
    # A client of the service sees the outcomes of its orders.
    [ "$room" != open_loop ] || outcomes='|app/outcome\.def$'
    rooms+="loadtest/$room/ base/|db/|lock/|loadtest/($below)/$outcomes
"
    outcomes=''
done

# Programs that measure this library, and use it as any other program does.
rooms+='loadtest/peers/ lock/dlock(_async)?\.h|loadtest/peers/
'

# Headers of other libraries, and which files may include them.
libraries='
hiredis/      base/redis/reader\.c|loadtest/probe/
openssl/(ssl|bio|x509) base/redis/tls(_stream)?\.c
libpq         base/postgres/wire(_open)?\.c|base/postgres/wire_inside\.h
zookeeper     lock/stores/
curl          lock/stores/etcd_wire\.h|loadtest/
jansson\.h    lock/stores/etcd_|app/|loadtest/
civetweb      base/http/(server|session)\.c
'

# Every include of the programs and the library, as "file path".
includes=$(git ls-files -co --exclude-standard -- {base,lock,db,app,loadtest}/'*.'{c,h,def} |
    xargs -d '\n' grep -HE '^[[:space:]]*#[[:space:]]*include' |
    sed -nE 's/^([^:]+):[^"<]*["<]([^">]+)[">].*/\1 \2/p')

complain() {
    [ -z "$2" ] || {
        printf 'check-layers: %s\n%s\n' "$1" "$2"
        failed=1
    }
}

# A file belongs to the first room that fits.
seen='^$'
while read -r room allowed; do
    [ -n "$room" ] || continue
    complain "$room may include no more than $allowed" "$(awk -v seen="$seen" -v room="^$room" -v allowed="^($allowed)" '
        $1 ~ room && $1 !~ seen && $2 ~ "^(base|lock|db|app|loadtest|tests)/" && $2 !~ allowed
    ' <<<"$includes")"
    seen="$seen|^$room"
done <<<"$rooms"
complain 'these files are in no room' "$(awk -v seen="$seen" '$1 !~ seen' <<<"$includes")"

while read -r header allowed; do
    [ -n "$header" ] || continue
    complain "only $allowed may include $header" "$(awk -v header="^$header" -v allowed="^($allowed)" '
        $2 ~ header && $1 !~ allowed' <<<"$includes")"
done <<<"$libraries"

# Names that only some files may use, and these files; elsewhere in these rooms a name is an error.
system_rooms='lock db base/redis base/postgres'
system_names='pthread_|PTHREAD_|p?poll\(|eventfd|clock_gettime|nanosleep|usleep|getrandom|arc4random|SYS_|gettid|getpid'
socket_names='socket\(|connect\(|recv\(|send\(|shutdown\(|getaddrinfo\('
# not_named NAMES ALLOWED ROOM...: the lines of code in the rooms that have one of the names.
not_named() {
    local names=$1 allowed=$2
    shift 2
    git ls-files -co --exclude-standard -- "${@/%//*.[ch]}" | grep -vE "^($allowed)" | xargs -d '\n' -r grep -HnE "\\b($names)" |
        grep -vE '^[^:]+:[0-9]+: *(/\*| \*)' || true
}
# shellcheck disable=SC2086  # a list of rooms
complain "only base/os/ knows threads, polling, clocks and random bytes of the system" \
    "$(not_named "$system_names" 'base/os/' $system_rooms)"
complain 'only base/redis/wire.c and tls_stream.c know sockets' "$(not_named "$socket_names" 'base/redis/(wire|tls_stream)\.c' base/redis)"
# received.c defines poll() for civetweb, whose calls have to go through it.
complain 'base/os/ gives threads, polling, clocks and sleep' \
    "$(not_named 'pthread_|PTHREAD_|sem_(init|post|wait)|p?poll\(|eventfd|clock_gettime|nanosleep|usleep' 'base/http/received\.c' app base/http base/text)"
# eprintf() escapes what a terminal would obey; the lines of a live command have styles.
complain 'eprintf() prints on stderr' \
    "$(not_named 'v?fprintf\(stderr' 'loadtest/(live|peers)/' loadtest)"

# listed FOLDER LIST MACRO: the files of a folder and the lines of its list are the same set.
listed() {
    diff <(git ls-files -co --exclude-standard -- "$1/*.c" | sed 's|.*/||; s|\.c$||' | sort) \
        <(sed -nE "s/^$3\(([a-z_]+).*/\1/p" "$2" | sort) >/dev/null || {
        echo "check-layers: $2 does not list what is in $1/"
        failed=1
    }
}
listed lock/variants lock/variants.def VARIANT
listed db/guards db/guards.def GUARD
listed app/paths db/order_paths.def ORDER_PATH
listed loadtest/check/checks loadtest/check/checks.def CHECK
listed loadtest/fault/faults loadtest/fault/faults.def SERVER_FAULT
listed loadtest/scenario/scenarios loadtest/scenario/scenarios.def SCENARIO
# The pages that tests/run knows are the programs of tests/browser.
diff <(git ls-files -co --exclude-standard -- 'tests/browser/*.py' | sed -n 's|^tests/browser/\([^/]*\)\.py$|\1|p' | sort) \
    <(sed -nE 's/^(long_|waiting_|sanitized_)?pages=\(([^)]*)\)$/\2/p' tests/run | tr ' ' '\n' | sed '/^$/d' | sort) >/dev/null || {
    echo 'check-layers: tests/run does not list what is in tests/browser/'
    failed=1
}
exit $failed
