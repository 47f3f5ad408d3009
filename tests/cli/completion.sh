#!/bin/bash
# SPDX-License-Identifier: MIT
# completion.sh -- bash's completion of a command line of seckill or seckilld.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
cd "$root" || exit 70
plan 22

tools/completion.sh bash build >"$work/completion" || exit 1
# shellcheck disable=SC1091  # written just now
. "$work/completion"

# complete_at WORD...: complete a line with these words as bash splits them; the last word is
# incomplete.
complete_at() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _seckill
    printf '%s\n' "${COMPREPLY[@]}"
}
# completes WANTED WORD...: are the results exactly these, with blanks between them?
completes() {
    local wanted=$1 got
    shift
    got=$(complete_at "$@" | sort | paste -sd' ')
    [ "$got" = "$wanted" ] || { echo "$* is completed by: $got" && return 1; }
}
# Every flag that `seckill help environment` lists.
knows_every_flag() {
    local line words count=0
    while read -r line; do
        words=' '$(_seckill_words "${line% *}" | tr -d =)' '
        [[ $words == *" ${line##* } "* ]] || { echo "not completed: $line" && return 1; }
        count=$((count + 1))
    done < <("$seckill" help environment |
        sed -nE 's/^SECKILL_[A-Z_0-9]+ +(seckilld|seckill [a-z-]+) (--[a-z-]+)$/\1 \2/p')
    [ "$count" -gt 100 ]
}
check 'a command' completes 'scenario seed show' seckill s
check 'every command' test "$(complete_at seckill '' | wc -l)" -eq \
    "$("$seckill" help | sed -n '/^Commands:/,/^$/p' | grep -c '^  [a-z]')"
check 'the words behind a command' completes 'down' seckill lab d
check 'a topic of help' completes 'environment' seckill help e
check 'a flag' completes '--stock-guard=' seckilld --stock
check 'every flag of every program' knows_every_flag
check 'a name that a flag accepts' completes 'redlock' seckilld --lock = redl
check 'all of them' completes 'parallel sequential' seckilld --redlock =
check 'a flag and its name in one word' completes '--lock-scope=user --lock-scope=voucher' seckilld --lock-scope=
check 'a name of a list' completes 'slow' seckill compare --hazards = sl
check 'the next name of a list' completes 'slow,freeze' seckill compare --hazards = slow,fr
check 'the next in one word' completes '--locks=lua,redlock' seckill load --locks=lua,redl
check 'all names of a list' completes 'all fencing one-per-user oversell' seckill compare --experiments = ''
check 'all is the whole list' completes 'x,fencing x,one-per-user x,oversell' seckill compare --experiments = x,
check 'a name with a blank' completes 'fenced\ off' seckill matrix --expect = fen
check 'the scenarios of a matrix' completes 'expired-lease' seckill matrix --scenarios = expired-l
check 'a scenario to run, also behind a flag' \
    eval "completes expired-lease seckill scenario run expired-l && completes topologies seckill scenario run --wire topo"
check 'also behind the value of a flag that looks like a scenario' \
    eval "completes expired-lease seckill scenario run --locks = all expired-l && completes expired-lease seckill scenario run --locks all expired-l"
check 'a fault to run, and then no other' \
    eval "completes script-flush seckill fault run script && completes '' seckill fault run clock script"
check 'behind -- the flags of the service' completes '--lock-scope=' seckill load -- --lock-s
touch "$work/one-file"
check 'a file' completes "$work/one-file" seckilld --config = "$work/one"
check 'no word behind an unknown command' completes '' seckill nothing --x
done_testing
