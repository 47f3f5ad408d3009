#!/bin/bash
# SPDX-License-Identifier: MIT
# deps.sh -- tools/deps.sh installs with the real apt and dpkg, in a mount namespace where
# their databases, their configuration and /usr/sbin are copies below $work.  The packages
# that it installs there hold no files, so this machine is left as it is.
#
# Without root a mount namespace needs a user namespace, and some machines grant none: a
# chroot, most containers.  There the whole program runs again through sudo.
isolate=(unshare --map-root-user --mount)
if ! "${isolate[@]}" true 2>/dev/null; then
    [ "$(id -u)" -eq 0 ] || exec sudo -n "$0" "$@"
    isolate=(unshare --mount)
    "${isolate[@]}" true 2>/dev/null || isolate=() # a chroot has none, and installs nothing here
fi
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
deps=$root/tools/deps.sh
export LC_ALL=C

# Make a package uthash-dev without files, whose preinst is the text $1.
pack() {
    local dir=$work/package
    rm -rf "$dir" && mkdir -p "$dir/DEBIAN" "$work/repo"
    printf '%s\n' 'Package: uthash-dev' 'Version: 1' 'Architecture: all' \
        'Maintainer: nobody <nobody@localhost>' 'Description: no files' \
        >"$dir/DEBIAN/control"
    printf '#!/bin/sh\n%s\n' "$1" >"$dir/DEBIAN/preinst"
    chmod 755 "$dir/DEBIAN/preinst"
    dpkg-deb -b "$dir" "$work/repo/uthash-dev_1_all.deb" >/dev/null
    {
        cat "$dir/DEBIAN/control"
        echo 'Filename: ./uthash-dev_1_all.deb'
        echo "Size: $(stat -c %s "$work/repo/uthash-dev_1_all.deb")"
        echo "SHA256: $(sha256sum "$work/repo/uthash-dev_1_all.deb" | cut -d' ' -f1)"
    } >"$work/repo/Packages"
}

# Make a root for apt in which every package of the group run is installed, except uthash-dev.
make_world() {
    local package
    rm -rf "$work/world"
    mkdir -p "$work/world"/{dpkg/{updates,info,triggers,parts,alternatives},apt/lists/partial} \
        "$work/world"/{cache/archives/partial,log/apt} \
        "$work/world"/etc/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d}
    cp -a /usr/sbin "$work/world/sbin"
    rm -f "$work/world/sbin/policy-rc.d"
    echo "deb [trusted=yes] file:$work/repo ./" >"$work/world/etc/sources.list"
    # Without root there is one user in the namespace, and apt cannot become another.
    echo 'APT::Sandbox::User "root";' >"$work/world/etc/apt.conf.d/test"
    touch "$work/world/dpkg/available"
    for package in $("$deps" --list run); do
        [ "$package" = uthash-dev ] ||
            printf '%s\n' "Package: $package" 'Status: install ok installed' 'Version: 1' \
                'Architecture: all' 'Maintainer: nobody <nobody@localhost>' \
                'Description: none' ''
    done >"$work/world/dpkg/status"
}

# in_world COMMAND...: run it where apt and dpkg use only that root.
in_world() {
    # shellcheck disable=SC2016  # it is the inner shell that expands them
    "${isolate[@]}" bash -c 'set -e
        for pair in dpkg:/var/lib/dpkg apt:/var/lib/apt cache:/var/cache/apt \
            etc:/etc/apt log:/var/log sbin:/usr/sbin; do
            mount --bind "$0/${pair%%:*}" "${pair#*:}"
        done
        exec "$@"' "$work/world" "$@"
}

is_installed() {
    [ "$(dpkg-query --admindir="$work/world/dpkg" -W -f='${db:Status-Status}' uthash-dev)" = installed ]
}

installs_what_is_missing() {
    pack 'exit 0' && make_world
    says '^deps: 1 packages are missing: uthash-dev' in_world "$deps" && is_installed &&
        [ ! -e "$work/world/sbin/policy-rc.d" ]
}

# ca-certificates-java is such a package: a script of its that cannot write fails.
installs_a_package_that_speaks() {
    pack 'echo "names are unpacked" || exit 4' && make_world &&
        in_world "$deps" && is_installed
}

shows_progress() {
    pack 'exit 0' && make_world
    says '^deps: +[0-9]+ % .*uthash-dev' in_world "$deps"
}

# hold LOCK: start a process, $holder, that holds the lock by fcntl, as apt and dpkg do, until
# $work/go exists.
hold() {
    rm -f "$work/go" "$work/held"
    perl -MFcntl -e '
        my $lock = pack("ssx4qqlx4", F_WRLCK, 0, 0, 0, 0);
        open(my $file, ">", $ARGV[0]) or die "$!";
        fcntl($file, F_SETLK, $lock) or die "$!";
        open(my $held, ">", $ARGV[1]) or die "$!";
        select(undef, undef, undef, 0.02) until -e $ARGV[2];' \
        "$work/world/$1" "$work/held" "$work/go" &
    holder=$!
    own "$holder"
    soon test -e "$work/held"
}

# waits_for LOCK: it is held until deps says that it waits for that process.
waits_for() {
    local status=0 waiter
    pack 'exit 0' && make_world && hold "$1" || return 1
    in_world "$deps" >"$work/out" 2>&1 &
    waiter=$!
    own "$waiter"
    soon grep -q "process $holder (perl).*waiting for it to end" "$work/out" ||
        status=1
    touch "$work/go"
    wait "$waiter" || status=$?
    cat "$work/out"
    [ "$status" -eq 0 ] && is_installed
}

gives_up_after_its_time() {
    local status=0 waiter
    pack 'exit 0' && make_world && hold apt/lists/lock || return 1
    DEPS_WAIT=1 in_world "$deps" >"$work/out" 2>&1 || status=$?
    touch "$work/go"
    cat "$work/out"
    rm -f "$(sed -n 's/.*all that it said is in //p' "$work/out")"
    [ "$status" -eq 69 ] && grep -q "E: Could not get lock .*process $holder" "$work/out"
}

# fails_with WORDS...: deps ends with 69 and prints those words, and does not print the progress
# before the failure.
fails_with() {
    local status=0 word
    in_world "$deps" >"$work/out" 2>&1 || status=$?
    cat "$work/out"
    rm -f "$(sed -n 's/.*all that it said is in //p' "$work/out")"
    [ "$status" -eq 69 ] && [ "$(wc -l <"$work/out")" -lt 20 ] || return 1
    for word in "$@"; do grep -q -- "$word" "$work/out" || return 1; done
    ! grep -q 'Errors were encountered' "$work/out" &&
        [ ! -e "$work/world/sbin/policy-rc.d" ]
}

gives_dpkgs_reason() {
    pack 'echo "no space for the list of names" >&2; exit 3' && make_world &&
        fails_with 'no space for the list of names' \
            'pre-installation script subprocess returned error exit status 3'
}

names_a_package_that_is_not_to_be_had() {
    pack 'exit 0' && make_world && : >"$work/repo/Packages"
    fails_with 'E: .*\(Unable to locate package\|no installation candidate\)'
}

mkdir "$work/bin" && ln -s /bin/true "$work/bin/dpkg-query" && ln -s /bin/false "$work/bin/sudo"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id" && chmod 755 "$work/bin/id"

plan $((${#isolate[@]} > 0 ? 12 : 4))
check 'who may not use sudo is told what is missing' \
    says 'apt-get install gcc' status 69 env PATH="$work/bin:$PATH" "$deps"
check 'a system without dpkg is told so' says 'no dpkg here' status 69 env PATH=/nowhere "$deps"
if [ ${#isolate[@]} -gt 0 ]; then
    check 'a missing package is installed, and policy-rc.d is taken away again' \
        installs_what_is_missing
    check 'the script of a package may write to its output' installs_a_package_that_speaks
    check 'while it works it shows how far it is' shows_progress
    check 'another process has the lock of dpkg: it is named, and waited for' \
        waits_for dpkg/lock-frontend
    check "another process has the lock of apt's lists: it is named, and waited for" \
        waits_for apt/lists/lock
    check 'after DEPS_WAIT seconds it gives up with 69, and names the process' \
        gives_up_after_its_time
    check "when an installation fails, dpkg's own reason is printed" gives_dpkgs_reason
    check 'a package that no archive has is named' names_a_package_that_is_not_to_be_had
fi
check 'an unknown group gives 64' status 64 "$deps" foo
check 'an unknown group is answered with the names of the groups' \
    says 'no group foo; the groups are: run test' "$deps" foo
done_testing
