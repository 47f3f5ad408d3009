#!/bin/bash
# SPDX-License-Identifier: MIT
# examples.sh -- each program of examples/ is built with the shared library of this tree, and does
# its work in a loop of poll(), of libuv and of libev; so does the program of the how-to.
redis_url=$SECKILL_REDIS_URL
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
plan 9
dlock=(-Ilock "build/$library" "-Wl,-rpath,$root/build")

# build NAME LIBRARY...: library.sh builds with the installed library and pkg-config.
build() {
    local name=$1
    shift
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o "$work/$name" "examples/$name.c" "${dlock[@]}" "$@"
}
run() { SECKILL_REDIS_URL=$redis_url timeout 120 "$work/$1"; }

for loop in poll libuv libev; do
    needs=()
    case $loop in libuv) needs=(-luv) ;; libev) needs=(-lev) ;; esac
    check "async_$loop.c is built" build "async_$loop" ${needs[@]+"${needs[@]}"}
    check "async_$loop sells a hundred orders in one thread" \
        says '^100 orders under 3 locks, 0 failed$' run "async_$loop"
done

# The program of the how-to: what is compiled and run here is what the page shows.
howto=docs/how-to/lock-without-threads.md
of_the_howto() {
    awk '/^```/ { inside = $0 == "```c"; next } inside' "$howto" >"$work/howto.c"
    [ -s "$work/howto.c" ] && cc -std=c11 -Wall -Wextra -Werror -o "$work/howto" "$work/howto.c" "${dlock[@]}"
}
three_released() { [ "$(run howto | grep -cE '^lock:(one|two) is released: ok$')" -eq 3 ]; }
check 'the program of the how-to is built' of_the_howto
check 'the program of the how-to takes and releases its three locks' three_released

every_example_is_run() {
    local file
    for file in examples/*.c; do
        grep -q "$(basename "$file" .c | sed 's/async_//')" "$0" || { echo "$file is not run"; return 1; }
    done
}
check 'every example is run here' every_example_is_run
done_testing
