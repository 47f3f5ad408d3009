#!/bin/bash
# SPDX-License-Identifier: MIT
# arm64.sh -- build everything for arm64, and run the unit tests and the laws of all locks under
# qemu, with servers of this machine.
#
# Debian's packages for arm64 go into a root of their own, build/arm64/root, which apt fills with
# lists and a status of its own: the machine's packages stay as they are.
#
# Exit: 0 all others passed, 1 a test failed, 69 packages are missing, 2 something does not build.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/arm64 root=$PWD/build/arm64/root
tools/deps.sh test arm64

if [ ! -e "$root/complete" ]; then
    rm -rf "$root" "$out/apt"
    mkdir -p "$root/usr/lib" "$out"/apt/{lists,archives}/partial
    : >"$out/apt/status"
    ln -s usr/lib "$root/lib"
    options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=
        -o Dir::State="$out/apt" -o Dir::State::status="$out/apt/status" -o Dir::Cache="$out/apt")
    mapfile -t packages < <(tools/deps.sh --list run test | grep -E '^(lib([^c]|c[^l])|u).*-dev$')
    apt-get "${options[@]}" -q update
    apt-get "${options[@]}" -q -y --no-install-recommends --download-only install "${packages[@]}"
    for package in "$out"/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
    done
    touch "$root/complete"
fi

PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig \
    make -j2 WERROR=1 OUT=build/arm64 CC="aarch64-linux-gnu-gcc --sysroot=$root" \
    AR=aarch64-linux-gnu-ar LD=aarch64-linux-gnu-ld OBJCOPY=aarch64-linux-gnu-objcopy \
    RUN="qemu-aarch64-static -L $root" all tests
make -j2 all

# qemu starts no program of arm64 from another one, and lacks TCP_INFO and seccomp.
cannot='excludes another process|killed (at any moment|session)|another process reads along'
cannot+='|dead waiter keeps nobody out|fence grows from process to process'
cannot+='|without_fallocate|test_postgres_floods: an_(answer|opening)_has_a_bound'
failures=0
# passes PROGRAM FLAG...: run all its tests, and those that fail once more, alone.
passes() {
    local log=$out/${1##*/}.tap program=(timeout 1800 qemu-aarch64-static -L "$root" "$1") name
    "${program[@]}" >"$log" || true
    [ "$(grep -cE '^(not )?ok' "$log")" = "$(sed -n 's/^1\.\.//p' "$log")" ] || failures=1
    while IFS= read -r name; do
        "${program[@]}" "${@:2}" "$name" || failures=1
    done < <(grep '^not ok' "$log" | grep -vE "$cannot" | sed 's/^not ok [0-9]* - //')
    echo "${1##*/}: $(grep -c ^ok "$log") passed, $(grep -c '^not ok' "$log") failed, of which" \
        "qemu cannot run $(grep '^not ok' "$log" | grep -cE "$cannot")"
}
trap 'build/seckill lab down --dir "$out/lab"' EXIT
build/seckill lab up --zookeeper --etcd-alone --dir "$out/lab"
# shellcheck disable=SC1091  # the lab writes it
. "$out/lab/env"
passes "$out/tests/unit"
passes "$out/tests/conformance" --only
exit $failures
