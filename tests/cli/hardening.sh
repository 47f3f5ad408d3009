#!/bin/bash
# SPDX-License-Identifier: MIT
# hardening.sh -- the options that the build passes to a compiler, and the check that reads the
# binaries.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
plan 19

cat >"$work/program.c" <<'END'
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char text[64];

    strcpy(text, argv[argc - 1]);
    return puts(text) < 0;
}
END

# build COMPILER FLAG...: build as the Makefile does; the flags come last, so they win.
build() {
    local compiler=$1
    shift
    # shellcheck disable=SC2046  # they are words
    "$compiler" -w -O2 $(tools/hardening.sh "$compiler") -fPIE -pie \
        -Wl,-z,relro,-z,now,-z,noexecstack "$@" -o "$work/program" "$work/program.c"
}
passes() { build "$@" && tools/check-hardening.sh "$work/program"; }
# refuses WORDS FLAG...: the check names the protection that those flags remove, and its exit status
# is 1.
refuses() {
    local words=$1
    shift
    build gcc "$@" || return 1
    status 1 tools/check-hardening.sh "$work/program" >"$work/said"
    says "$words" cat "$work/said"
}

check 'a program that gcc builds with the flags it takes passes' passes gcc
check 'a program that clang builds with the flags it takes passes' passes clang
# gcc 12 with -ftrivial-auto-var-init=zero zeroes `item[0].value` of `copy` in part.
cat >"$work/copy.c" <<'END'
#include <string.h>
struct list { struct { long a; int b; } head; struct { long value; char kind; } item[8]; };
struct outer { struct list list; int more; };
__attribute__((noinline)) static int is_whole(const struct outer *outer)
{
    return outer->list.item[0].value == 0x5555555555555555;
}
__attribute__((noinline)) static int copies(const struct list *list)
{
    struct outer copy = {.list = *list, .more = 1};
    return is_whole(&copy);
}
int main(void)
{
    struct list list;
    memset(&list, 0x55, sizeof list);
    return !copies(&list);
}
END
keeps_data() {
    # shellcheck disable=SC2046  # they are words
    "$1" -w -O2 $(tools/hardening.sh "$1") -o "$work/copy" "$work/copy.c" && "$work/copy"
}
check 'gcc with the flags it is given copies a struct whole' keeps_data gcc
check 'clang with the flags it is given copies a struct whole' keeps_data clang
check 'a program at a fixed address is refused' refuses 'not position-independent' -no-pie -fno-pie
check 'a program that resolves symbols late is refused' refuses 'no BIND_NOW' -Wl,-z,lazy
check 'a program with writable tables of addresses is refused' refuses 'no RELRO' -Wl,-z,norelro
check 'a program with an executable stack is refused' refuses 'executable stack' -Wl,-z,execstack
check 'a program with a search path for libraries is refused' refuses 'RPATH' -Wl,-rpath,/tmp
check 'a program without a stack protector is refused' refuses 'no stack protector' -fno-stack-protector
check 'a program without checked calls is refused' refuses 'no checked calls' -U_FORTIFY_SOURCE
check 'a file that is not there is refused' says 'it is not there' tools/check-hardening.sh "$work/none"
check 'a file that is no program is refused' says 'readelf cannot read it' tools/check-hardening.sh Makefile

unmarked() {
    gcc -fcf-protection=none -O2 -c -o "$work/part.o" "$work/program.c" &&
        ar rcs "$work/part.a" "$work/part.o" && tools/check-hardening.sh "$work/part.a"
}
case $(uname -m) in
    x86_64 | i?86)
        check 'an object without marks for control-flow protection is refused' \
            says 'part.o' unmarked ;;
    *) check 'only x86 marks objects for control-flow protection' true ;;
esac

# A compiler that knows fewer flags is asked for each flag.
cat >"$work/old" <<'END'
#!/bin/sh
case $* in *-fstack-clash-protection*|*FORTIFY_SOURCE=3*) exit 1 ;; esac
exec gcc "$@"
END
chmod +x "$work/old"
check 'a compiler without _FORTIFY_SOURCE=3 is given 2' \
    says 'FORTIFY_SOURCE=2' tools/hardening.sh "$work/old"
lacks() { ! says "$@"; }
check 'and no flag that it does not know' \
    lacks 'clash|SOURCE=3' tools/hardening.sh "$work/old"

# would ARGUMENT...: print the commands by which make would build one object and the library.
would() {
    make -nB V=1 "$@" "build/$library" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
        grep -E -- '-o build/(obj/lock/name.o|libdlock)' | cut -c 1-900
}
check 'CFLAGS of the user come after those of the project' \
    says 'fstack-protector-strong.* -O1 -fno-stack-protector' would CFLAGS='-O1 -fno-stack-protector'
check 'LDFLAGS of the user come after those of the project' \
    says 'z,now.* -Wl,-z,lazy .*-shared' would LDFLAGS=-Wl,-z,lazy
check 'without optimisation nothing asks for checked calls' \
    lacks '-D_FORTIFY_SOURCE' would CFLAGS=-O0
done_testing
