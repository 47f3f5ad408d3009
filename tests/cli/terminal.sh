#!/bin/bash
# SPDX-License-Identifier: MIT
# terminal.sh -- colours and the pager: on a terminal, in a pipe, and by the user's
# settings.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 24
unset NO_COLOR PAGER LESS
export TERM=xterm

histories=("$root"/tests/histories/good/*.txt)
good=${histories[0]}
histories=("$root"/tests/histories/bad/*.txt)
bad=${histories[0]}

# on-terminal COMMAND...: run it with stdin, stdout and stderr on a terminal, and remove its
# carriage returns.
mkdir "$work/bin"
export PATH=$PATH:$work/bin
cat >"$work/bin/on-terminal" <<'END'
#!/bin/bash
set -o pipefail
script -qefc "$(printf '%q ' "$@")" /dev/null </dev/null | tr -d '\r'
END
# The fake pagers print that they ran, and then their input.
mkdir "$work/pagers"
cat >"$work/pagers/less" <<'END'
#!/bin/bash
echo "less with $* and LESS=$LESS"
cat
END
sed 's/^echo.*/echo "mine with $*"/' "$work/pagers/less" >"$work/pagers/mine"
# shellcheck disable=SC2016  # expanded by the pager
printf '#!/bin/bash\nread -r line\necho "left after $line"\n' >"$work/pagers/early"
chmod +x "$work"/bin/* "$work"/pagers/*

# colored COMMAND...: does its output have escape sequences? plain COMMAND...: is there output
# without escape sequences?
output() {
    out=$("$@" 2>&1)
    cat -v <<<"$out" | head -n 5
    [ -n "$out" ]
}
colored() { output "$@" && [[ $out == *$'\033['* ]]; }
plain() { output "$@" && [[ $out != *$'\033['* ]]; }
# has TEXT COMMAND..., lacks TEXT COMMAND...: escape sequences are part of the text.
has() { output "${@:2}" && [[ $out == *"$1"* ]]; }
lacks() { output "${@:2}" && [[ $out != *"$1"* ]]; }

check 'a terminal gets colours' colored on-terminal "$seckill" check "$good"
check 'a valid verdict is green' has $'\033[32mvalid' on-terminal "$seckill" check "$good"
check 'an invalid verdict is red' has $'\033[1;31minvalid' on-terminal "$seckill" check "$bad"
check 'a pipe gets no colours' plain "$seckill" check "$bad"
check 'a terminal with NO_COLOR gets none' plain env NO_COLOR=1 on-terminal "$seckill" check "$good"
check 'an empty NO_COLOR says nothing' colored env NO_COLOR= on-terminal "$seckill" check "$good"
check 'a dumb terminal gets none' plain env TERM=dumb on-terminal "$seckill" check "$good"
check '--color=never takes them from a terminal' plain on-terminal "$seckill" check --color=never "$good"
check '--color=always gives them to a pipe' colored "$seckill" check --color=always "$good"
check '--color=always wins over NO_COLOR' colored env NO_COLOR=1 "$seckill" check --color=always "$good"
check 'SECKILL_COLOR is the same choice' colored env SECKILL_COLOR=always "$seckill" check "$good"
check 'JSON has no colours' plain "$seckill" locks --json --color=always
check 'another word is refused' says '^seckill locks: --color: unknown "red" .flag.$' status 64 "$seckill" locks --color=red

default='less with -FRX and LESS=FRX'
with_less() { PATH=$work/pagers:$PATH "$@"; }
with_mine() { PAGER="$work/pagers/mine -x" "$@"; }
check 'a terminal shows the locks through less -FRX' has "$default" with_less on-terminal "$seckill" locks
check 'a terminal shows the scenarios through it' has "$default" with_less on-terminal "$seckill" scenario list
check 'a terminal shows help through it' has "$default" with_less on-terminal "$seckill" help compare
check 'PAGER wins, with its own words' has 'mine with -x' with_mine on-terminal "$seckill" locks
check 'headings are bold in a pager' has $'\033[1mlock ' with_mine on-terminal "$seckill" locks
check 'a pipe gets no pager' lacks 'mine with' with_mine "$seckill" locks
check 'PAGER=cat is none' lacks 'less with' with_less env PAGER=cat on-terminal "$seckill" locks
check '--no-pager is none' lacks 'less with' with_less on-terminal "$seckill" locks --no-pager
check '--help has none' lacks 'less with' with_less on-terminal "$seckill" locks --help
missing() {
    local -x PAGER=no-such-pager
    has 'PAGER names a program that is not there: no-such-pager' on-terminal "$seckill" locks && [[ $out == *reentrant* ]]
}
check 'without the program that PAGER names the text is printed' missing
left_early() { PAGER=$work/pagers/early has 'left after' status 0 on-terminal "$seckill" scenario list; }
check 'a user may leave the pager early' left_early
done_testing
