#!/bin/bash
# SPDX-License-Identifier: MIT
# library.sh -- the lock library can be installed, and its how-to tells the truth.
redis_url=$SECKILL_REDIS_URL
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work
install_it() { make -s install DESTDIR="$work" PREFIX=/usr; }

in_place() {
    ls "$work"/usr/lib/libdlock.{a,so,so.0} "$work"/usr/include/dlock/dlock{,_primitives}.h \
        "$work/usr/lib/pkgconfig/dlock.pc"
}

shows_no_more_than_declared() {
    nm -D --defined-only "$work/usr/lib/libdlock.so" | awk '{print $3}' | sort >"$work/shown"
    grep -ohE '\bdlock_[a-z_]+\(' "$work"/usr/include/dlock/*.h | tr -d '(' | sort -u >"$work/declared"
    [ -s "$work/shown" ] && ! comm -23 "$work/shown" "$work/declared" | grep .
}

# shellcheck disable=SC2016,SC2046  # those are backquotes of Markdown; the flags are words
compile() {
    sed -n '/^```c$/,/^```$/p' docs/how-to/use-the-lock-library.md | sed '1d;$d' >"$work/example.c"
    cc -Wall -Wextra -Werror -o "$work/example" "$work/example.c" \
        $(pkg-config --cflags --libs dlock)
}

# shellcheck disable=SC2046
compile_statically() {
    cc -o "$work/static" "$work/example.c" $(pkg-config --cflags dlock) \
        "$work/usr/lib/libdlock.a" -pthread \
        $(env -u PKG_CONFIG_SYSROOT_DIR pkg-config --libs hiredis uuid libpq) -lzookeeper_mt
}

run_example() { SECKILL_REDIS_URL=$redis_url LD_LIBRARY_PATH=$work/usr/lib "$work/$1"; }

plan 7
check 'make install succeeds' install_it
check 'it puts the libraries, the header and the .pc file in place' in_place
check 'the shared library shows nothing that the header does not declare' \
    shows_no_more_than_declared
check 'the program of the how-to compiles' compile
check 'it takes and gives back a lock of a real Redis' says '^ok: ok$' run_example example
check 'it links statically' compile_statically
check 'and runs so too' says '^ok: ok$' run_example static
done_testing
