#!/bin/bash
# SPDX-License-Identifier: MIT
# deps.sh [--list] [GROUP...] -- install the Debian packages that are missing, as root or
# through sudo: those of the group `run`, which everything needs, and of the groups named.
#
#   run       to build, and for the servers and the load of `make demo`
#   test      for `make test`, `make lint` and `make mutants`
#   browser   for tests of the pages in a browser; `test` has them too
#   arm64     for `make arm64`
#   analyze   for static analysis
#   compose   for `make compose`, which needs Docker and its compose besides
#   peers     for `make interop`: Maven and a JDK, Python with redis-py
#   bench-peers  for `make bench-peers`: Maven and a JDK, Python, Go, Node with npm, etcd, Curator
#
# --list prints the packages of exactly the groups named, one on a line, and installs
# nothing.  The group `run` consists of `build`, what a compilation needs, and `servers`.
#
# Another apt or dpkg may be at work (unattended upgrades are, after a boot).  deps.sh then
# names that process and waits for it, at most DEPS_WAIT seconds (1800).
#
# The project starts servers of its own; the ones that Debian's packages bring are left
# stopped.  While the packages are being installed, policy-rc.d (Debian's switch for that)
# forbids it, unless the machine has a policy of its own.
#
# Exit status: 0 all are installed, 64 no such group, 69 they cannot be installed.
set -euo pipefail
export LC_ALL=C

declare -A packages=(
    [build]="gcc make pkg-config libc6-dev
        libhiredis-dev libpq-dev libcivetweb-dev libjansson-dev uthash-dev
        libssl-dev libcurl4-openssl-dev libzookeeper-mt-dev"
    [servers]="libzookeeper-java default-jre-headless
        redis-server redis-tools postgresql wrk"
    [test]="libcmocka-dev clang clang-tools libclang-rt-dev shellcheck procps curl
        g++ man-db python3 nginx-light cppcheck zsh
        libuv1-dev libev-dev liblua5.1-0-dev jq prometheus haproxy pgbouncer
        etcd-server etcd-client systemd gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    [arm64]="qemu-user-static"
    [browser]="chromium chromium-driver python3-selenium fonts-wqy-microhei poppler-utils"
    [analyze]="cppcheck clang"
    [compose]="curl python3 jq"
    [peers]="maven default-jdk-headless python3 python3-redis"
    [bench-peers]="maven default-jdk-headless python3 python3-pip golang-go
        nodejs npm etcd-server etcd-client libcurator-recipes-java"
)
packages[run]="${packages[build]} ${packages[servers]}"
packages[test]+=" ${packages[browser]}"

usage() {
    echo "deps: no group $1; the groups are: run test browser arm64 analyze compose peers" \
        "bench-peers" >&2
    exit 64
}

# packages_of GROUP: print them, one on a line.
packages_of() {
    local group=$1 names
    [ -n "${packages[$group]+known}" ] || return 1
    read -r -d '' -a names <<<"${packages[$group]}" || true
    [ ${#names[@]} -eq 0 ] || printf '%s\n' "${names[@]}"
}

if [ "${1:-}" = --list ]; then
    shift
    for group in "$@"; do packages_of "$group" || usage "$group"; done
    exit 0
fi
for group in "$@"; do packages_of "$group" >/dev/null || usage "$group"; done

command -v dpkg-query >/dev/null || {
    echo "deps: no dpkg here; tools/deps.sh --list run $* names the packages of Debian" >&2
    exit 69
}

# The packages that are installed, and the names that they provide: a Node from elsewhere
# provides npm, and conflicts with Debian's.
# shellcheck disable=SC2016  # dpkg-query expands them
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}, ${Provides}\n' |
    sed -nE 's/^installed //; T; s/\([^)]*\)//g; s/[ ,]+/\n/gp')
missing=()
while read -r package; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done < <(for group in run "$@"; do packages_of "$group"; done | awk '!seen[$0]++')
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    { command -v sudo && sudo true; } >/dev/null || {
        echo "deps: these packages are missing, and installing them needs root or sudo:" >&2
        echo "  apt-get install ${missing[*]}" >&2
        exit 69
    }
    as_root=(sudo)
fi
echo "deps: ${#missing[@]} packages are missing: ${missing[*]}" >&2

policy=/usr/sbin/policy-rc.d
log=$(mktemp /tmp/seckill-deps-XXXXXX.log)
policy_is_ours=no
finish() {
    [ "$policy_is_ours" = no ] || "${as_root[@]}" rm -f "$policy"
}
trap finish EXIT
trap 'exit 130' INT TERM
if [ ! -e "$policy" ]; then
    policy_is_ours=yes
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi

# On a terminal the progress is one line that is written over; elsewhere, one line for
# each tenth of the way.
is_terminal=no
[ ! -t 2 ] || is_terminal=yes
tenth=-1
progress() { # PERCENT TEXT
    local percent=${1%%.*}
    if [ "$is_terminal" = yes ]; then
        printf '\r\033[Kdeps: %3s %% %.60s' "$percent" "$2" >&2
    elif [ $((percent / 10)) -ne "$tenth" ]; then
        tenth=$((percent / 10))
        printf 'deps: %3s %% %s\n' "$percent" "$2" >&2
    fi
}
say() {
    [ "$is_terminal" = no ] || printf '\r\033[K' >&2
    printf 'deps: %s\n' "$1" >&2
}

# follow: read apt's output; keep it in the log, and turn its status lines into progress.
follow() {
    local line kind percent text waits_for=''
    while IFS= read -r line; do
        case $line in
            dlstatus:* | pmstatus:*)
                IFS=: read -r kind _ percent text <<<"$line"
                [ "$kind" = pmstatus ] || text="fetching: $text"
                progress "$percent" "$text"
                continue
                ;;
            'Waiting for cache lock:'*)
                [ "$line" = "$waits_for" ] || say "${line%...}; waiting for it to end"
                waits_for=$line
                ;;
        esac
        printf '%s\n' "$line" >>"$log"
    done
}

# reason: print the errors of apt and dpkg, without their progress before and without the names of
# all the packages that were not installed because of the error.
reason() {
    awk '
        /^Errors were encountered while processing:/ { skips = 1; next }
        skips && /^ / { next }
        { skips = 0 }
        /^(E: |W: |Err:)/ && !/Sub-process .*dpkg returned an error code/ { print; next }
        /^dpkg: warning: / { next }
        /^dpkg: / { if (before != "") print before; print; follows = 1; before = ""; next }
        follows && /^ / { print; next }
        { follows = 0 }
        /^(Selecting|Preparing|Unpacking|Setting up|Processing)/ { before = ""; next }
        { before = $0 }
    ' "$log" | awk '!seen[$0]++' | head -n 20
}

# apt COMMAND...: run apt-get.  The status lines have descriptor 3 to themselves: apt closes
# their descriptor for dpkg, and a package whose script finds its output closed is not
# installed.  sudo passes no descriptor above 2 on, so 3 is opened behind it.  apt-get waits for dpkg's lock by itself, but not for those of
# its lists and of its cache, so that is tried again until the time is over.
deadline=$((SECONDS + ${DEPS_WAIT:-1800}))
apt() {
    local status holder told='' patience
    while :; do
        : >"$log"
        status=0 tenth=-1 patience=$((deadline - SECONDS))
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
            sh -c 'exec apt-get "$@" 3>&1' apt-get -y \
            -o Dpkg::Use-Pty=0 -o APT::Status-Fd=3 \
            -o DPkg::Lock::Timeout=$((patience > 0 ? patience : 0)) "$@" 2>&1 </dev/null |
            follow || status=$?
        [ "$is_terminal" = no ] || printf '\r\033[K' >&2
        [ "$status" -ne 0 ] || return 0
        holder=$(grep -m 1 '^E: Could not get lock' "$log") || break
        [ $SECONDS -lt $deadline ] || break
        [ "$holder" = "$told" ] || say "${holder#E: }; waiting for it to end"
        told=$holder
        sleep 1
    done
    reason >&2
    echo "deps: apt-get $1 failed; all that it said is in $log" >&2
    exit 69
}
apt update
apt install --no-install-recommends "${missing[@]}"
rm -f "$log"
say "installed ${#missing[@]} packages"
