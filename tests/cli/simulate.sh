#!/bin/bash
# SPDX-License-Identifier: MIT
# simulate.sh -- the command line of the simulation: a seed repeats itself, alone and in a batch,
# and every wrong variant, class and seed is named together with the accepted ones.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"

simulate() { "$root/build/tests/simulate" "$@"; }

# refuses FLAG...: does it end with 64, and say the words of $says on stderr?
refuses() {
    local code=0
    simulate "$@" >"$work/out" 2>"$work/err" || code=$?
    cat "$work/out" "$work/err"
    [ "$code" -eq 64 ] && [ ! -s "$work/out" ] && grep -q -- "$says" "$work/err"
}

# alone VARIANT CLASS SEED: the hash of the seed, played in a process of its own.
alone() { simulate --variant="$1" --class="$2" --seed="$3" --quiet | sed -n 's/.*hash //p'; }

# repeats VARIANT CLASS: have the seeds 5 to 8 the same hash in a batch of one job, in one of
# eight, and alone?
repeats() {
    local variant class seed hash
    simulate --hashes --variant="$1" --class="$2" --from=5 --seeds=4 --jobs=1 >"$work/one"
    simulate --hashes --variant="$1" --class="$2" --from=5 --seeds=4 --jobs=8 --twice |
        sort >"$work/eight"
    diff "$work/one" "$work/eight" && [ "$(wc -l <"$work/one")" -eq 4 ] || return 1
    while read -r variant class seed hash; do
        [ "$(alone "$variant" "$class" "$seed")" = "$hash" ] || return 1
    done <"$work/one"
}

# differs: have two seeds different hashes, and so has a seed in another class?
differs() {
    [ "$(alone lua calm 1)" != "$(alone lua calm 2)" ] &&
        [ "$(alone lua calm 1)" != "$(alone lua net 1)" ]
}

plan 21
says='no variant "lau"; accepted are: all,setnx,.*,redlock,semaphore,'
check 'an unknown variant is named with the accepted ones' refuses --variant=lau
check 'and in a list' refuses --variant=lua,lau,spin
says='no variant ""'
check 'no variant at all is refused' refuses --variant=
check 'and an empty place in a list' refuses --variant=lua,,spin
says='no class "nett"; accepted are: all,calm,net,crash,pause,store,clock'
check 'an unknown class is named with the accepted ones' refuses --class=nett
says='no class "ne"'
check 'the beginning of a class is no class' refuses --class=ne
says='no variant "a"'
check 'nor is the beginning of all' refuses --variant=a
says='SEED=0x7 is not accepted; it takes a whole number from 1 to 999999999999999999'
check 'a seed that is no number is named' refuses --variant=lua --class=net --seed=0x7
says='SEED=0 is not accepted'
check 'a seed of 0' refuses --variant=lua --class=net --seed=0
says='SEED=-1 is not accepted'
check 'a seed below 0' refuses --variant=lua --class=net --seed=-1
says='SEED= is not accepted'
check 'an empty seed' refuses --variant=lua --class=net --seed=
says='SEED=1000000000000000000 is not accepted'
check 'a seed that is too large' refuses --variant=lua --class=net --seed=1000000000000000000
says='SEEDS=many is not accepted'
check 'a number of seeds that is none' refuses --seeds=many
says='JOBS=64 is not accepted; it takes a whole number from 1 to 16'
check 'too many jobs' refuses --jobs=64
says='one seed needs one VARIANT (of setnx,.*) and one CLASS (of calm,'
check 'one seed of all variants' refuses --seed=7 --class=net
check 'one seed of two classes' refuses --seed=7 --variant=lua --class=net,calm
check 'a seed of a lock repeats itself' repeats reentrant net
check 'a seed of a lock on five servers repeats itself' repeats redlock crash
check 'a seed of a primitive repeats itself' repeats permits pause
check 'a seed of a sale repeats itself' repeats combined crash
check 'other seeds and other classes are other histories' differs
done_testing
