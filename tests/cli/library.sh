#!/bin/bash
# SPDX-License-Identifier: MIT
# library.sh -- the lock library can be installed and removed, its manual pages are
# well-formed, and the programs of its how-to compile and run as shown.
redis_url=$SECKILL_REDIS_URL owner_url=$SECKILL_LAB_DATABASE_URL
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
plan 44
howto=$root/docs/how-to/use-the-lock-library.md
export HOME=$work/home
mkdir "$HOME" "$work/c"

# block LANGUAGE PATTERN: print the how-to's block in that language with a line that fits.
block() {
    awk -v language="$1" -v pattern="$2" '
        !/^```/ { text = text $0 "\n"; next }
        inside  { inside = 0; if (lang == language && text ~ pattern) { printf "%s", text; found = 1; exit } next }
                { inside = 1; lang = substr($0, 4); text = "" }
        END     { exit !found }' "$howto"
}
block c main >"$work/c/example.c" && block cpp main >"$work/c/holder.cpp" || exit 70

# A database of its own, with nothing in it yet.
database=dlock_library_$$
psql -qX "$owner_url" -c "CREATE DATABASE $database" || exit 69
trap 'psql -qX "$owner_url" -c "DROP DATABASE $database WITH (FORCE)"; finish' EXIT
DATABASE_URL=$(sed -E "s|^(postgresql://[^/]*/)[^?]*|\1$database|" <<<"$owner_url")
export DATABASE_URL

# --- what is in the tree ---
pages() { make -s manual && ls build/man/library/*.3 build/man/library/dlock.7 build/man/programs/*.1; }
every_call_has_a_page() {
    local name
    sed -n 's/^ *\(dlock_[a-z_]*\);$/\1/p' lock/libdlock.map >"$work/names"
    [ -s "$work/names" ] || return 1
    while read -r name; do
        [ -s "build/man/library/$name.3" ] || { echo "$name has none"; return 1; }
    done <"$work/names"
}
clean_pages() {
    local page out
    mkdir -p "$work/man" && cp -r build/man/library "$work/man/man3"
    for page in build/man/library/* build/man/programs/*; do
        out=$(cd "$work/man" && MAN_KEEP_FORMATTING='' man --warnings -E UTF-8 -l "$root/$page" 2>&1 >"$work/page")
        if [ -n "$out" ] || [ ! -s "$work/page" ]; then
            echo "$page: $out"
            return 1
        fi
    done
}
check 'the manual pages are made' pages
check 'every call has a page' every_call_has_a_page
check 'man reads every page without a warning' clean_pages
check 'the page of a call says what it answers' \
    says '^ +BUSY +another owner holds the lock' man -P cat -l build/man/library/dlock_acquire.3
check 'the page of a command lists its options' \
    says '^ +--hazards=' man -P cat -l build/man/programs/seckill-compare.1

unexpected_name() {
    sed '/dlock_release;/d' lock/libdlock.map >"$work/less.map"
    make -s lib && cc -shared -o "$work/less.so" -Wl,--version-script="$work/less.map" \
        -Wl,--whole-archive build/libdlock.a -Wl,--no-whole-archive &&
        ! tools/check-symbols.sh "$work/less.so"
}
check 'the library shows exactly what the headers declare' tools/check-symbols.sh
check 'a name that is missing from it is seen' says 'names what .* does not show: dlock_release' unexpected_name

# --- in a home directory, as the how-to says ---
# shellcheck disable=SC2016  # it is what the how-to says, word for word
home_blocks() { block sh 'PREFIX="\$HOME' && block sh 'psql'; }
# shellcheck disable=SC1091  # it is the how-to's
follow_home() { home_blocks >"$work/install.sh" && . "$work/install.sh"; }
check 'the commands of the how-to for a home directory work' follow_home
export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig LD_LIBRARY_PATH=$HOME/.local/lib
in_place() {
    (cd "$HOME/.local" && ls lib/libdlock.{a,so,so.1} include/dlock/dlock{,_primitives}.h \
        lib/pkgconfig/dlock.pc share/dlock/postgres.sql share/doc/dlock/LICENSE \
        share/doc/dlock/use-the-lock-library.md share/man/man3/dlock_open.3 share/man/man7/dlock.7)
}
check 'every file is where the how-to says' in_place
check 'man finds the pages of calls there, also by their second names' \
    says 'dlock_lease\(3\)' man -M "$HOME/.local/share/man" -P cat dlock_release

# --- programs ---
# build_as LANGUAGE PATTERN [FLAG]: run the how-to's command for it.
build_as() { (cd "$work/c" && block sh "$1" | grep -v '^SECKILL' | sh -ex); }
# run EXPECTED PROGRAM [ARGUMENT]
run() {
    local expected=$1
    shift
    (cd "$work/c" && SECKILL_REDIS_URL=$redis_url says "$expected" "$@")
}
warn_free() {
    local flags
    flags=$(pkg-config --cflags dlock)
    # shellcheck disable=SC2086
    (cd "$work/c" && cc -std=c99 -pedantic -Wall -Wextra -Werror $flags -D_GNU_SOURCE -fsyntax-only example.c &&
        g++ -std=c++11 -Wpedantic -Wall -Wextra -Werror $flags -fsyntax-only holder.cpp &&
        clang++ -std=c++20 -Wpedantic -Wall -Wextra -Werror $flags -fsyntax-only holder.cpp)
}
every_program() {
    build_as 'o example ' && build_as 'o example-static' && build_as 'o holder' &&
        run '^ok: ok$' ./example && run '^ok: ok$' ./example-static &&
        run '^lua: held by ' ./holder lua
}
check 'its programs compile as C99, C++11 and C++20 without a warning' warn_free
check 'the program in C builds as it says' build_as 'o example '
check 'the program in C takes and releases a lock of a real Redis' run '^ok: ok$' ./example
check 'the program in C links statically as it says' build_as 'o example-static'
check 'and runs so too' run '^ok: ok$' env -u LD_LIBRARY_PATH ./example-static
check 'the program in C++ builds as it says' build_as 'o holder'
check 'the program in C++ takes a lock of Redis' run '^lua: held by ' ./holder lua
check 'and one of PostgreSQL, with the tables that were installed' run '^pg-fair: held by ' ./holder pg-fair
check 'an exception says why a lock cannot be had' run 'no variant "nonsense"' ./holder nonsense

static_cpp() {
    # shellcheck disable=SC2046
    (cd "$work/c" && g++ -o static-holder holder.cpp $(pkg-config --cflags dlock) -Wl,--no-as-needed \
        "$HOME/.local/lib/libdlock.a" $(pkg-config --libs hiredis libpq libssl libcrypto libcurl jansson) -lzookeeper_mt -pthread)
}
check 'a C++ program links it statically' static_cpp
check 'and runs so' run '^reentrant: held by ' env -u LD_LIBRARY_PATH ./static-holder

# --- another dlock.h than the library's ---
# with_header EDIT PROGRAM SOURCE: build the program with an edited dlock.h.
with_header() {
    mkdir -p "$work/other" && cp "$HOME/.local"/include/dlock/*.h "$work/other/" &&
        sed -i "$1" "$work/other/dlock.h" && ! cmp -s "$work/other/dlock.h" lock/dlock.h &&
        (cd "$work/c" && cc -o "$2" "$3" -I"$work/other" -L"$HOME/.local/lib" -ldlock)
}
older='/dlock_lost_fn \*on_lost;/d; /void \*on_lost_arg;/d; /int64_t handover;/,/\*\//d; s/dlock_lease reserved.*//'
newer='s/^} dlock_options;/    const char *new_text;\n&/'
sed 's/opts.redis_url = /opts.new_text = getenv("NEW_TEXT"); &/' "$work/c/example.c" >"$work/c/newer.c"
check 'a program with a shorter dlock_options builds' with_header "$older" older example.c
check 'and runs with this library' run '^ok: ok$' ./older
check 'a program with a longer dlock_options builds' with_header "$newer" newer newer.c
check 'and runs with this library' run '^ok: ok$' ./newer
check 'unless it asks for what the library does not know' \
    run 'what this library does not know' env NEW_TEXT=on ./newer

cat >"$work/c/load.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>

/* Loaded, used by a thread of its own, closed and loaded again. */
int main(int argc, char **argv)
{
    for (int i = 0; i < 3 && argc == 2; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        const char *(*text)(int) = NULL;

        if (library == NULL) {
            puts(dlerror());
            return 1;
        }
        *(void **)&text = dlvsym(library, "dlock_status_text", "DLOCK_1");
        if (text == NULL || dlsym(library, "dlock_clock_ns") != NULL)
            return 2;
        puts(text(0));
        dlclose(library);
    }
    return 0;
}
END
loads() { cc -D_GNU_SOURCE -o "$work/c/load" "$work/c/load.c" && status 0 "$work/c/load" "$1"; }
check 'the library can be loaded and closed again and again, and shows versions and no inner name' \
    loads "$HOME/.local/lib/libdlock.so.1"

# --- below DESTDIR, in a directory of Debian's kind ---
stage=$work/stage
places=(PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu)
check 'the library and the programs can be installed below DESTDIR' make -s install install-programs DESTDIR="$stage" "${places[@]}"
export PKG_CONFIG_PATH=$stage/usr/lib/x86_64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage
export LD_LIBRARY_PATH=$stage/usr/lib/x86_64-linux-gnu
says_nothing_of_destdir() { ! grep -rlF "$stage" "$stage"; }
check 'no file that is installed names DESTDIR' says_nothing_of_destdir
dynamic_programs() {
    build_as 'o example ' && build_as 'o holder' && run '^ok: ok$' ./example && run '^lua: held by ' ./holder lua
}
check 'the programs of the how-to build and run with what is there' dynamic_programs
completions() { ls "$stage/usr/share/bash-completion/completions/"seckill{,d} "$stage/usr/share/zsh/site-functions/_seckill"; }
check 'the completions for bash and zsh are beside them' completions
check 'the installed programs run' says 'reentrant' "$stage/usr/bin/seckill" locks
installed_load() {
    "$stage/usr/bin/seckill" load --dir="$work/installed" --out="$work/installed-runs" --front --stock=5 \
        --duration=10s --quiet
}
installed_clock() {
    "$stage/usr/bin/seckill" lab up --dir="$work/installed" >/dev/null 2>&1 || return 1
    "$stage/usr/bin/seckill" fault run clock --by=1h --for=0s --dir="$work/installed" || return 1
    "$stage/usr/bin/seckill" lab down --dir="$work/installed"
}
labs+=("$work/installed")
check 'and load the service with wrk, behind a front' says '^VALID' status 0 installed_load
check 'and move the clock of a server' installed_clock
# removed ROOT ARGUMENT...: ROOT exists, and `make uninstall ARGUMENT...` leaves nothing in it.
removed() {
    local root=$1
    shift
    [ -d "$root" ] && make -s uninstall "$@" || return 1
    [ ! -e "$root" ] || find "$root" -mindepth 1
    [ ! -e "$root" ] || [ -z "$(ls -A "$root")" ]
}
check 'make uninstall leaves nothing of it' removed "$stage" DESTDIR="$stage" "${places[@]}"
unset PKG_CONFIG_SYSROOT_DIR
check 'make uninstall leaves nothing in the home directory' removed "$HOME/.local" PREFIX="$HOME/.local"

# --- a path with a blank in it ---
blank="$work/a place"
with_blank() {
    make -s install PREFIX="$blank" LIBDIR="$blank/my lib" || return 1
    export PKG_CONFIG_PATH="$blank/my lib/pkgconfig" LD_LIBRARY_PATH="$blank/my lib"
    (cd "$work/c" && eval "cc -o blank example.c $(pkg-config --cflags --libs dlock)") && run '^ok: ok$' ./blank
}
check 'a place with a blank in its name will do' with_blank
check 'and can be left again' removed "$blank" PREFIX="$blank" LIBDIR="$blank/my lib"

foreign() {
    make -s install PREFIX="$blank" && touch "$blank/include/dlock/mine.h" &&
        make -s uninstall PREFIX="$blank" && ls "$blank/include/dlock/mine.h" && rm -r "$blank"
}
check 'a foreign file beside it stays' foreign
foreign_directory() {
    mkdir -p "$blank/lib/pkgconfig" && make -s install install-programs PREFIX="$blank" &&
        make -s install PREFIX="$blank" && make -s uninstall PREFIX="$blank" || return 1
    find "$blank" | LC_ALL=C sort >"$work/left"
    printf '%s\n' "$blank" "$blank/lib" "$blank/lib/pkgconfig" | diff - "$work/left"
}
check 'of directories only those stay that were there before, also after two installs' foreign_directory

# --- by a user without rights ---
# The user gets a clone with the files that were built here, so that nothing is compiled again.
user_home=$work/user
own_clone() {
    chmod 711 "$work" && mkdir -p "$user_home/clone/build" &&
        git ls-files -z | xargs -0 cp -a --parents -t "$user_home/clone" &&
        cp -a --parents build/gen build/man build/obj/lock build/libdlock* "$user_home/clone" || return 1
    [ "$(id -u)" -ne 0 ] || chown -R nobody "$user_home"
}
# as_user COMMAND...
as_user() {
    local run=(env -C "$user_home/clone" HOME="$user_home" "$@")
    [ "$(id -u)" -ne 0 ] || run=(runuser -u nobody -- "${run[@]}")
    "${run[@]}"
}
user_installs() {
    own_clone && as_user make -s install PREFIX="$user_home/.local" &&
        (export HOME=$user_home && in_place) &&
        [ -z "$(find "$user_home/.local" ! -user "$(stat -c %U "$user_home")")" ]
}
user_removes() {
    as_user make -s uninstall PREFIX="$user_home/.local" && [ ! -e "$user_home/.local" ]
}
mkdir -m 555 "$work/closed"
[ "$(id -u)" -ne 0 ] || closed=/usr/local
check 'a user without rights installs into the own home directory' user_installs
check 'and removes it without a trace' user_removes
check 'a directory that the user may not write is named' \
    says "cannot .*${closed:-$work/closed}.*: Permission denied" as_user make -s install PREFIX="${closed:-$work/closed}"
check 'a PREFIX that does not begin with / is refused' \
    says 'PREFIX is here; it has to begin with /' make -s install PREFIX=here
done_testing
