#!/bin/bash
# SPDX-License-Identifier: MIT
# deps.sh [GROUP...] -- install the Debian packages that are missing, as root or through
# sudo: those that everybody needs, and those of the groups.
#
#   interop   for `make interop`: Maven and a JDK, Python with redis-py
#
# The project starts servers of its own; the ones that Debian's packages bring are left
# stopped.  While the packages are being installed, policy-rc.d (Debian's switch for that)
# forbids it, unless the machine has a policy of its own.
set -euo pipefail

packages=(
    gcc make pkg-config libc6-dev
    libhiredis-dev libpq-dev libcivetweb-dev libjansson-dev libinih-dev uthash-dev uuid-dev
    libssl-dev libcurl4-openssl-dev
    libzookeeper-mt-dev libzookeeper-java default-jre-headless
    redis-server redis-tools postgresql wrk
    libcmocka-dev clang libclang-rt-14-dev shellcheck procps curl
)
interop=(maven default-jdk-headless python3 python3-redis)
for group in "$@"; do
    case $group in
        interop) packages+=("${interop[@]}") ;;
        *) echo "deps: no group $group; there is: interop" >&2 && exit 64 ;;
    esac
done
policy=/usr/sbin/policy-rc.d

missing=()
for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
        missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "deps: these packages are missing and neither root nor sudo is at hand:" >&2
        echo "  apt-get install ${missing[*]}" >&2
        exit 69
    }
    as_root=(sudo)
fi
echo "deps: installing ${missing[*]}" >&2

log=$(mktemp)
ours=no
finish() {
    [ "$ours" = no ] || "${as_root[@]}" rm -f "$policy"
    rm -f "$log"
}
trap finish EXIT
trap 'exit 130' INT TERM
if [ ! -e "$policy" ]; then
    ours=yes
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y \
        -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        echo "deps: apt-get $* failed" >&2
        exit 69
    }
}
apt update
apt install --no-install-recommends "${missing[@]}"
