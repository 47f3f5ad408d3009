#!/bin/bash
# SPDX-License-Identifier: MIT
# lab_trouble.sh -- commands of the lab that are interrupted, are given a file as the
# directory, or find a server that lets no client in or is stopped.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 21
lab=$work/lab
labs+=("$lab")

# --- Ctrl-C, while a Redis server that was started again does not answer yet ---
mkdir -p "$work/path/silent"
cp "$(type -P sleep)" "$work/path/silent/redis-server"
printf '#!/bin/bash\ntouch %q\nexec %q 600\n' "$work/started" "$work/path/silent/redis-server" \
    >"$work/path/redis-server"
chmod +x "$work/path/redis-server"
"$seckill" lab up --dir="$lab" >/dev/null || exit 1
interrupted() {
    local pid got=0
    PATH=$work/path:$PATH "$seckill" lab restart redis --dir="$lab" >"$work/cut.log" 2>&1 &
    pid=$!
    own "$pid"
    soon test -e "$work/started" && send INT "$pid" || return 1
    wait "$pid" || got=$?
    cat "$work/cut.log"
    [ "$got" -eq 130 ]
}
check 'Ctrl-C while a server comes up again: 130' interrupted
check 'and the message says that the server comes up' grep -q 'redis was started again .* did not answer yet' "$work/cut.log"
check 'which the lab knows' status 0 "$seckill" lab status --dir="$lab"
check 'and a restart makes it whole' status 0 "$seckill" lab restart redis --dir="$lab"

# --- a fault that was killed, so its server lets no client in ---
full() { says '^redis refuses more clients.*: seckill lab restart redis' status 69 "$seckill" lab status --dir="$lab" | tee "$work/full"; }
# The printed command has to work in any directory.
follow() {
    local advice
    advice=$(sed -n 's/.*; to start it anew: seckill //p' "$work/full")
    echo "$advice"
    # shellcheck disable=SC2086  # words
    (cd "$work" && "$seckill" $advice)
}
fault_is_killed() {
    local pid
    "$seckill" fault run client-limit --server=redis --for=600s --dir="$lab" >"$work/fault.log" 2>&1 &
    pid=$!
    own "$pid"
    soon full || { cat "$work/fault.log" && return 1; }
    send KILL "$pid"
    wait "$pid" 2>/dev/null
    full
}
check 'status says that a killed fault left a server that refuses clients' fault_is_killed
check 'the command that it names starts the server anew' status 0 follow
check 'and status is content' status 0 "$seckill" lab status --dir="$lab"

# --- a server that is stopped ---
redis=$(jq '.servers[] | select(.name == "redis") | .pid' "$lab/state.json")
kill -STOP "$redis"
is_stopped() { grep -q '^State:.T' "/proc/$redis/status"; }
soon is_stopped
advice="redis is stopped and answers no client; to continue it: kill -CONT $redis"
check 'status does not call a stopped server up' says '^redis .* STOPPED$' status 69 "$seckill" lab status --dir="$lab"
check 'and says what continues the server' says "^$advice" status 69 "$seckill" lab status --dir="$lab"
check 'nor does up' says "^seckill lab up: $advice" status 69 "$seckill" lab up --dir="$lab"
kill -CONT "$redis"
check 'a server that goes on is up' soon status 0 "$seckill" lab status --dir="$lab"
check 'for up too' says '^already up' status 0 "$seckill" lab up --dir="$lab"

# --- a file that cannot be removed: its path is longer than the longest path ---
mkdir "$lab/deep"
(cd "$lab/deep" && name=$(printf '%0200d' 0) && for _ in {1..30}; do mkdir "$name" && cd "$name" || exit 1; done) || exit 1
mapfile -t pids < <(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$lab/state.json")
check 'a lab of which a file cannot be removed is not down' says "cannot remove $lab/deep: " \
    status 73 "$seckill" lab down --dir="$lab"
check 'its servers have ended' soon gone "${pids[@]}"
check 'and it is still a lab' says 'cannot remove' status 73 "$seckill" lab up --dir="$lab"
rm -rf "$lab/deep"
check 'which down ends after the file is gone' says '^down: ' status 0 "$seckill" lab down --dir="$lab"

# --- a file as the directory ---
echo x >"$work/file"
check 'a lab does not come up in a file' says 'cannot make .*/file: Not a directory' \
    status 73 "$seckill" lab up --dir="$work/file"
check 'and a file is no lab to take down' says 'is no lab; nothing was removed' \
    status 64 "$seckill" lab down --dir="$work/file"

# --- file systems that set modes themselves, or keep a file until nobody has it open ---
cat >"$work/drive.c" <<'EOF'
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static int is(const char *variable, const char *path)
{
    return getenv(variable) && strncmp(path, getenv(variable), strlen(getenv(variable))) == 0;
}
int mkdir(const char *path, mode_t mode)
{
    mode_t mask = umask(0);
    int rc = (int)syscall(SYS_mkdirat, AT_FDCWD, path, is("OPEN", path) ? 0777 : mode & ~mask);
    umask(mask);
    return rc;
}
int chmod(const char *path, mode_t mode)
{
    return is("OPEN", path) ? 0 : (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}
int rmdir(const char *path)
{
    if (!is("KEPT", path))
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
    errno = ENOTEMPTY;
    return -1;
}
EOF
cc -shared -fPIC -o "$work/drive.so" "$work/drive.c" || exit 1
drive() { env LD_PRELOAD="$work/drive.so" "$@"; }
check 'a lab does not come up where others can read its secrets' \
    says 'the file system of .*/open sets modes itself' status 73 \
    drive OPEN="$work/open" "$seckill" lab up --dir="$work/open"
mkdir "$work/place"
check 'nor where they can change its data' says 'place is no place' \
    status 73 drive OPEN="$work/place" SECKILL_LAB_DATA="$work/place" "$seckill" lab up --dir="$lab"
"$seckill" lab up --dir="$lab" >/dev/null
check 'a directory that the file system keeps is named, and how to remove it' \
    says "after that: rm -r $lab" status 73 drive KEPT="$lab" "$seckill" lab down --dir="$lab"
done_testing
