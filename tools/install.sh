#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh install library|programs, install.sh uninstall -- copy the build to its places,
# and remove the copies.
#
# The places come from the environment, as the Makefile exports them: DESTDIR (before every
# path, for the makers of packages), PREFIX, BINDIR, LIBDIR, INCLUDEDIR, MANDIR, DATADIR,
# DOCDIR, ZSHDIR; OUT is where the build is, SONAME the name of the shared library, VERSION the
# release, PUBLIC_HEADERS the headers of the library.
# The list below has every file and its place; uninstalling removes exactly these files.
# Installing writes the directories that it makes into a record, and uninstalling removes those
# of them that are empty.
set -euo pipefail
cd "$(dirname "$0")/.."
for name in PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR DATADIR DOCDIR ZSHDIR OUT SONAME VERSION PUBLIC_HEADERS; do
    [ -n "${!name:-}" ] || { echo "install.sh: $name is not set; call it through make" >&2; exit 64; }
done
for name in PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR DATADIR DOCDIR ZSHDIR; do
    [[ ${!name} == /* ]] || { echo "install: $name is ${!name}; it has to begin with /" >&2; exit 64; }
done

# row MODE SOURCE DESTINATION; the source of a link is its target.
row() { printf '%s\t%s\t%s\n' "$@"; }

pages() {
    local page
    for page in "$OUT/man/$1"/*; do
        row 644 "$page" "$MANDIR/man${page##*.}/${page##*/}"
    done
}

library() {
    local header
    for header in $PUBLIC_HEADERS; do
        row 644 "$header" "$INCLUDEDIR/dlock/${header##*/}"
    done
    row 644 "$OUT/libdlock.a" "$LIBDIR/libdlock.a"
    row 755 "$OUT/$SONAME" "$LIBDIR/$SONAME"
    row link "$SONAME" "$LIBDIR/libdlock.so"
    row 644 "$OUT/dlock.pc" "$LIBDIR/pkgconfig/dlock.pc"
    row 644 lock/stores/postgres.sql "$DATADIR/dlock/postgres.sql"
    row 644 LICENSE "$DOCDIR/LICENSE"
    row 644 CHANGELOG.md "$DOCDIR/CHANGELOG.md"
    row 644 docs/how-to/use-the-lock-library.md "$DOCDIR/use-the-lock-library.md"
    pages library
}
programs() {
    local script page
    row 755 "$OUT/seckilld" "$BINDIR/seckilld"
    row 755 "$OUT/seckill" "$BINDIR/seckill"
    for script in loadtest/wrk/*; do
        row 644 "$script" "$DATADIR/seckill/wrk/${script##*/}"
    done
    while read -r page; do
        row 644 "$page" "$DATADIR/seckill/${page#docs/}"
    done < <(grep -hoE 'docs/[A-Za-z0-9_./-]+[.]md' loadtest/show/lessons.def | sort -u)
    row 644 build/wall_clock.so "$DATADIR/seckill/wall_clock.so"
    row 644 docker/haproxy.cfg "$DATADIR/seckill/haproxy.cfg"
    row 644 LICENSE "$DATADIR/seckill/LICENSE"
    row 644 "$OUT/completion/seckill" "$DATADIR/bash-completion/completions/seckill"
    row link seckill "$DATADIR/bash-completion/completions/seckilld"
    row 644 "$OUT/completion/_seckill" "$ZSHDIR/_seckill"
    if [ "$action" = install ]; then
        pages programs
    else # without a build of the programs to ask for their pages
        for script in "$destdir$MANDIR"/man1/seckill{,d,-*}.1; do
            row 644 - "${script#"$destdir"}"
        done
    fi
}
# Directories that only this project uses.
directories() {
    printf '%s\n' "$INCLUDEDIR/dlock" "$DATADIR/dlock" "$DOCDIR" "$DATADIR/seckill"/{wrk,explanation,tutorial} \
        "$DATADIR/seckill"
}

# A path in the .pc file that lies below the prefix is written as such, so that the tree can
# be moved (pkg-config --define-prefix).
below_prefix() {
    case $1 in
        "$PREFIX"/*) printf '%s' "\${prefix}${1#"$PREFIX"}" ;;
        *) printf '%s' "$1" ;;
    esac
}
write_pc() {
    local line
    while IFS= read -r line; do
        line=${line//@PREFIX@/$PREFIX}
        line=${line//@LIBDIR@/$(below_prefix "$LIBDIR")}
        line=${line//@INCLUDEDIR@/$(below_prefix "$INCLUDEDIR")}
        line=${line//@SQLDIR@/$(below_prefix "$DATADIR/dlock")}
        printf '%s\n' "${line//@VERSION@/$VERSION}"
    done <lock/dlock.pc.in >"$OUT/dlock.pc"
}

# missing DIRECTORY: print the directory and those of its parents that do not exist.
missing() {
    local directory=$1
    while [ -n "$directory" ] && [ ! -d "$destdir$directory" ]; do
        printf '%s\n' "$directory"
        directory=${directory%/*}
    done
}

put() {
    local mode=$1 source=$2 destination=$3
    if [ "$mode" = link ]; then
        ln -sfn "$source" "$destdir$destination"
    else
        install -D -m "$mode" "$source" "$destdir$destination"
    fi
}

action=$1 what=${2:-}
destdir=${DESTDIR:-}
record=$destdir$DATADIR/dlock/directories
case $action in
    install)
        [ "$what" = programs ] || write_pc
        made=$(missing "$DATADIR/dlock")
        mkdir -p "$destdir$DATADIR/dlock"
        printf '%s' "${made:+$made$'\n'}" >>"$record"
        "$what" | while IFS=$'\t' read -r mode source destination; do
            missing "${destination%/*}" >>"$record"
            put "$mode" "$source" "$destination"
        done
        ;;
    uninstall)
        { library && programs; } | while IFS=$'\t' read -r _ _ destination; do
            rm -f "$destdir$destination"
        done
        made=$([ ! -f "$record" ] || cat "$record")
        rm -f "$record"
        # A directory sorts before those that are in it.
        { directories && printf '%s\n' "$made"; } | LC_ALL=C sort -ru | while IFS= read -r directory; do
            [ -z "$directory" ] || [ ! -d "$destdir$directory" ] ||
                rmdir --ignore-fail-on-non-empty "$destdir$directory"
        done
        ;;
    *) echo "install.sh: not $action but install or uninstall" >&2; exit 64 ;;
esac
