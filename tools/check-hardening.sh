#!/bin/bash
# SPDX-License-Identifier: MIT
# check-hardening.sh [FILE...] -- is each program or shared library hardened?
#
# Without files: what `make` builds.  readelf says of each whether it is position-independent,
# resolves all symbols at its start (BIND_NOW) and makes the tables of addresses read-only
# after that (RELRO; both together are full RELRO), has no executable stack, no relocations
# in its code, no search path of its own for libraries, a stack protector and checked calls
# of the C library.  On x86, every object of libdlock.a must be marked for control-flow
# protection; the programs are not marked as a whole where the system's crt1.o is not.
# Exit 1: a file is not; its name and what it lacks are printed.
set -uo pipefail
export LC_ALL=C
failed=0

lacks() {
    echo "check-hardening: $1: $2"
    failed=1
}

# needs FILE TEXT PATTERN WHAT: a line of the text must match.
needs() { grep -qE -- "$3" <<<"$2" || lacks "$1" "$4"; }
# forbids FILE TEXT PATTERN WHAT: no line of the text may match.
forbids() { grep -qE -- "$3" <<<"$2" && lacks "$1" "$4"; }

examine() {
    local file=$1 elf symbols
    elf=$(readelf -hdlW -- "$file" 2>&1) || { lacks "$file" "readelf cannot read it"; return; }
    symbols=$(nm -D --undefined-only -- "$file" 2>/dev/null)
    needs "$file" "$elf" '^ *Type: +DYN' 'not position-independent (-fPIE -pie)'
    case $file in
        *.so | *.so.*) ;;
        *) needs "$file" "$elf" 'FLAGS_1.*\bPIE\b' 'not marked as PIE (-pie)' ;;
    esac
    needs "$file" "$elf" '\(FLAGS\).*BIND_NOW|FLAGS_1.*\bNOW\b' 'no BIND_NOW (-Wl,-z,now)'
    needs "$file" "$elf" '^ *GNU_RELRO' 'no RELRO (-Wl,-z,relro)'
    needs "$file" "$elf" '^ *GNU_STACK.* RW ' 'an executable stack (-Wl,-z,noexecstack)'
    forbids "$file" "$elf" 'TEXTREL' 'relocations in its code (-fPIC)'
    forbids "$file" "$elf" '\((RPATH|RUNPATH)\)' 'a search path of its own (RPATH)'
    needs "$file" "$symbols" '__stack_chk_fail' 'no stack protector (-fstack-protector-strong)'
    needs "$file" "$symbols" '_chk(@|$)' 'no checked calls (-D_FORTIFY_SOURCE)'
}

# examine_marks ARCHIVE: is every object in it marked for control-flow protection?
examine_marks() {
    local archive=$1 marked
    marked=$(readelf -nW -- "$archive" 2>/dev/null | awk '
        /^File: /                  { if (name && !ok) print name; name = $2; ok = 0 }
        /x86 feature:.*IBT, SHSTK/ { ok = 1 }
        END                        { if (name && !ok) print name }')
    [ -z "$marked" ] || lacks "$archive" "objects without -fcf-protection: $marked"
}

if [ $# -eq 0 ]; then
    library=$(sed -n 's/^#define SECKILL_LIBRARY "\(.*\)"/\1/p' base/text/version.h)
    set -- build/seckilld build/seckill "build/$library" build/libdlock.a
fi
for file in "$@"; do
    [ -r "$file" ] || { lacks "$file" 'it is not there; build it with: make'; continue; }
    case $file in
        *.a) case $(uname -m) in x86_64 | i?86) examine_marks "$file" ;; esac ;;
        *) examine "$file" ;;
    esac
done
exit $failed
