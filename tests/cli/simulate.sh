#!/bin/bash
# SPDX-License-Identifier: MIT
# simulate.sh -- the command line of the simulation: a seed repeats itself, alone and in a batch,
# and the error for a wrong variant, class or seed lists the accepted ones.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"

simulate() { "$root/build/tests/simulate" "$@"; }

# refuses FLAG...: does the command end with 64, and print the words of $says on stderr?
refuses() {
    local code=0
    simulate "$@" >"$work/out" 2>"$work/err" || code=$?
    cat "$work/out" "$work/err"
    [ "$code" -eq 64 ] && [ ! -s "$work/out" ] && grep -q -- "$says" "$work/err"
}

# alone VARIANT CLASS SEED: print the hash of the seed, played in a process of its own.
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

# helps: does --help name every flag that getopt knows, on stdout?
helps() {
    local flag
    simulate --help >"$work/help" 2>"$work/err" && [ ! -s "$work/err" ] || return 1
    for flag in $(sed -n '/struct option options/,/NULL, 0, NULL/s/[^"]*{"\([a-z-]*\)",[^{]*/\1 /gp' \
        "$root/tests/simulation/main.c" | tr -d '};'); do
        grep -q -- "--$flag" "$work/help" || { echo "no --$flag"; return 1; }
        echo "$flag"
    done | tee "$work/flags"
    [ "$(wc -l <"$work/flags")" -ge 16 ]
}

# writes_page: has the page of a small table all cells?
writes_page() {
    (cd "$root" && tests/simulation/simulated.sh "$work/page.md" 'make simulate' build/tests/simulate \
        --variant=lua,naive --class=calm,store --seeds=600) || return 1
    cat "$work/page.md"
    grep -q '^| .lua. | calm | 600 | [0-9]* | 0 | fine 600 | as expected |$' "$work/page.md" &&
        [ "$(grep -c ' | as expected |$' "$work/page.md")" -eq 4 ]
}

# differs: have two seeds different hashes, and so has a seed in another class?
differs() {
    [ "$(alone lua calm 1)" != "$(alone lua calm 2)" ] &&
        [ "$(alone lua calm 1)" != "$(alone lua net 1)" ]
}

# strict: does a lock fail that breaks because its server loses its data, if no break is expected?
strict() {
    simulate --variant=lua --class=store --seeds=40 --strict --failed="$work/failed" >"$work/table"
}

# names_failed: does the file name each failed seed of the table, and the table the lowest?  Seeds
# are played side by side, so the file has them in the order of their ends.
names_failed() {
    local overlaps lowest
    lowest=$(sed -n 's/.*SEED=\([0-9]*\) .*/\1/p' "$work/failed" | sort -n | head -n 1)
    overlaps=$(sed -n 's/.* overlap \([0-9]*\) .*/\1/p' "$work/table")
    cat "$work/table" "$work/failed"
    [ "$overlaps" -gt 0 ] && [ "$(grep -c '# overlap: lock:' "$work/failed")" -eq "$overlaps" ] &&
        grep -q "^# make simulate VARIANT=lua CLASS=store SEED=$lowest\$" "$work/table"
}

# field NAME LINE: print the number before that word.
field() { printf '%s\n' "$2" | sed -n "s/.* \([0-9]*\) $1,.*/\1/p"; }

# shrinks: the first failed seed is followed by a smaller world with the same verdict.
shrinks() {
    local whole least seed
    seed=$(sed -n '1s/.*SEED=\([0-9]*\) .*/\1/p' "$work/failed")
    simulate --variant=lua --class=store --seed="$seed" >"$work/told"
    whole=$(grep "^seed $seed: overlap: " "$work/told" | head -n 1)
    least=$(grep "^seed $seed: overlap: " "$work/told" | tail -n 1)
    printf '%s\n' "$whole" "$least"
    [ "$(grep -c "^seed $seed: overlap: " "$work/told")" -eq 2 ] &&
        [ "$(field calls "$least")" -lt "$(field calls "$whole")" ] &&
        [ "$(field faults "$least")" -le "$(field faults "$whole")" ]
}

# plays_less: the command that stands under the smaller world plays it again.
plays_less() {
    local seed less
    read -r seed less < <(sed -n 's/^# make simulate VARIANT=lua CLASS=store SEED=\(.*\) LESS=/\1 /p' "$work/told")
    simulate --variant=lua --class=store --seed="$seed" --less="$less" --quiet >"$work/again"
    diff <(grep "^seed $seed:" "$work/told" | tail -n 1) "$work/again"
}

# tells WORDS...: does the trace have a line with each?
tells() {
    local words
    for words; do
        grep -q "$words" "$work/told" || { echo "no line: $words"; return 1; }
    done
}

plan 33
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
says='"lua" is not accepted; every argument is a flag'
check 'a word that is no flag is named' refuses lua
says='simulate --help'
check 'an unknown flag names where the known ones are' refuses --seed-count=7
check '--help names every flag' helps
check 'the page of a table has its cells' writes_page
says='one seed needs one VARIANT (of setnx,.*) and one CLASS (of calm,'
check 'one seed of all variants' refuses --seed=7 --class=net
check 'one seed of two classes' refuses --seed=7 --variant=lua --class=net,calm
check 'a seed of a lock repeats itself' repeats reentrant net
check 'a seed of a lock on five servers repeats itself' repeats redlock crash
check 'a seed of a primitive repeats itself' repeats permits pause
check 'other seeds and other classes are other histories' differs
says='LESS=threads:0 is not accepted; .* names: faults,processes,threads,rounds,names,bystanders,draw'
check 'a size below the least is named' refuses --variant=lua --class=net --seed=1 --less=threads:0
says='LESS=waits:1 is not accepted'
check 'a size that does not exist' refuses --variant=lua --class=net --seed=1 --less=waits:1
says='LESS=rounds:2, is not accepted'
check 'an unfinished list of sizes' refuses --variant=lua --class=net --seed=1 --less=rounds:2,
check 'where nothing is expected to break, a break ends with 1' status 1 strict
check 'each failed seed is named with its command' names_failed
check 'a failed seed is played with less, until nothing more can go' shrinks
check 'the smaller world repeats itself' plays_less
check 'the trace tells who runs, and why' \
    tells 'process [0-9] task [0-9]* runs: it was woken, [0-9.]* ms after' \
    'process [0-9] task [0-9]* asks for lock:' 'FAULT ' 'VERDICT overlap' \
    'connection [0-9]*: the server executes SET lock:'
check 'a file of failed seeds that cannot be written: 70' \
    status 70 simulate --variant=lua --class=calm --seeds=1 --failed="$work/none/failed"
done_testing
