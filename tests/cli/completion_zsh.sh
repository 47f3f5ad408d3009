#!/bin/bash
# SPDX-License-Identifier: MIT
# completion_zsh.sh -- zsh's completion of a command line of seckill or seckilld.
#
# A zsh on a terminal of its own loads the file as from its own directories. The test types a line,
# then a key that inserts every match, and then a key that writes the line to a file.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
plan 19

mkdir "$work/functions" "$work/lines"
tools/completion.sh zsh build >"$work/functions/_seckill" || exit 1
touch "$work/one-file"

cat >"$work/typed.zsh" <<'END'
# typed.zsh WORK: complete every line of WORK/asked, and write the results to WORK/told.
zmodload zsh/zpty || exit 69
work=$1
zpty shell zsh -f -i
# say LINE: type the line.
say() { zpty -w shell "$1" }
say "PS1= PS2= work=${(q)work}; stty -echo; unsetopt beep"
say 'fpath=($work/functions $fpath); autoload -Uz compinit; compinit -u -D 2>$work/errors'
say "zstyle ':completion:*' completer _all_matches _complete"
say "zstyle ':completion:*' insert true; zstyle ':completion:*' old-matches false"
say 'tell() { print -r -- "$BUFFER" >>$work/told; BUFFER= }; zle -N tell'
say "bindkey -e; bindkey '^I' complete-word; bindkey '^T' tell"
# Zsh's line editor reports that it reads keys.
say 'zle-line-init() { print -r -- ready >>$work/told }; zle -N zle-line-init'
count=1
# Wait until there are $count lines, so that the shell has completed this one.
wait_for() {
    until (( $(wc -l <$work/told) >= count )); do
        zpty -t shell || return 1
        while zpty -rt shell _; do :; done
        sleep 0.02
    done 2>/dev/null
}
wait_for || exit 1
while IFS= read -r line; do
    (( count++ ))
    zpty -w -n shell "$line"$'\t'$'\x14'
    wait_for || exit 1
done <$work/asked
zpty -d shell
END

cat >"$work/asked" <<'END'
seckill sc
seckill lab d
seckilld --stock-g
seckilld --lock=redl
seckilld --lock redl
seckilld --redlock=
seckill lock show x --lock=pg-adv
seckill load -- --lock-s
seckill help bench-
seckill help env
seckill nothing --x
seckill compare --hazards=slow,fr
seckill compare --locks redl
seckill scenario run expired-l
seckill scenario run --wire topo
seckill fault run clock script
seckill scenario run --locks all expired-l
seckill matrix --expect=fen
END
echo "seckilld --config=$work/one" >>"$work/asked"
: >"$work/told"
timeout 300 zsh -f "$work/typed.zsh" "$work" >"$work/terminal" 2>&1 || cat "$work/terminal"

# completes NUMBER WANTED: the line of that number, without a blank at its end.
completes() {
    local got
    got=$(sed -n "$(($1 + 1))p" "$work/told" | sed 's/ *$//')
    [ "$got" = "$2" ] || { echo "it is completed to: $got" && return 1; }
}
loads() { [ "$(head -n 1 "$work/told")" = ready ] && ! grep . "$work/errors"; }
check 'the file is loaded without an error' loads
check 'a command' completes 1 'seckill scenario'
check 'the words behind a command' completes 2 'seckill lab down'
check 'a flag, and no blank behind its =' completes 3 'seckilld --stock-guard='
check 'the name of a lock' completes 4 'seckilld --lock=redlock'
check 'the name of a lock in a word of its own' completes 5 'seckilld --lock redlock'
check 'all that a flag accepts' completes 6 'seckilld --redlock=parallel --redlock=sequential'
check "a command's own flag" completes 7 'seckill lock show x --lock=pg-advisory'
check 'behind -- the flags of the service' completes 8 'seckill load -- --lock-scope='
check 'a topic of help' completes 10 'seckill help environment'
check 'no word behind an unknown command' completes 11 'seckill nothing --x'
check 'the next name of a list' completes 12 'seckill compare --hazards=slow,freeze'
check 'a name of a list in a word of its own' completes 13 'seckill compare --locks redlock'
check 'a scenario to run' completes 14 'seckill scenario run expired-lease'
check 'also behind a flag' completes 15 'seckill scenario run --wire topologies'
check 'and no other behind the name of a fault' completes 16 'seckill fault run clock script'
check 'and behind the value of a flag that looks like one' completes 17 'seckill scenario run --locks all expired-lease'
check 'a name with a blank' completes 18 'seckill matrix --expect=fenced\ off'
check 'a file' completes 19 "seckilld --config=$work/one-file"
done_testing
