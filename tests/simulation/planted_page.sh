#!/bin/bash
# SPDX-License-Identifier: MIT
# planted_page.sh ROWS SEEDS EXPLAINED PATTERN FILE FOUND COUNT COMMIT -- prints the page of
# docs/results about planted bugs: the rows of planted.sh, and the reasons why the other patches of
# tests/mutants are not hunted.
set -euo pipefail
cd "$(dirname "$0")/../.."
rows=$1 seeds=$2 explained=$3 pattern=$4 file=$5 found=$6 count=$7 commit=$8

header() { sed -n "/^diff /q; s/^$2: *//p" "$1"; }
touched() { sed -n 's|^diff --git a/.* b/||p' "$1"; }

# class_of FILE: print why no change of this file is hunted; nothing if each patch has to give its
# reason.
class_of() {
    # shellcheck disable=SC2016  # the backquotes are those of markdown
    case $1 in
    loadtest/check/*) echo 'the rules of `seckill check`, which judge the simulation' ;;
    loadtest/*) echo 'the rules of the audit and the laboratory, which judge the simulation' ;;
    db/audit.c) echo 'how the audit reads PostgreSQL, in place of which the simulation reads its model' ;;
    base/postgres/* | lock/stores/postgres* | lock/variants/pg_*) echo 'the locks on PostgreSQL and its wire, which are not simulated' ;;
    lock/stores/zookeeper*) echo 'the lock on ZooKeeper, which is not simulated' ;;
    lock/variants/local.c) echo 'the lock within a process, which the simulation plays in sales without guards alone' ;;
    app/routes.c | app/exchange.c) echo 'the HTTP of the service, which is not simulated' ;;
    app/* | db/* | lua/stream_*) echo 'sales, for which no hunt has been written' ;;
    esac
}

# Lines "class<tab>name", or "<tab>name<tab>reason", of all that are not hunted.
others() {
    local patch name reason
    for patch in tests/mutants/*.patch; do
        header "$patch" Hunted-by | grep -q . && continue
        name=$(basename "$patch" .patch)
        reason=$(header "$patch" Not-hunted)
        if [ -n "$reason" ]; then
            printf '\t%s\t%s\n' "$name" "$reason"
        else
            printf '%s\t%s\n' "$(class_of "$(touched "$patch" | head -n 1)")" "$name"
        fi
    done
}

cat <<PAGE
# Planted bugs, and the seeds until the simulation finds them

| | |
|---|---|
| date | $(date -u '+%Y-%m-%d %H:%M UTC') |
| commit | $commit |
| machine | $(uname -m), $(uname -sr), $(nproc) processors |
| command | \`make simulate-planted PLANTED_SEEDS=$seeds PLANTED_EXPLAINED=$explained MUTANTS='$pattern' MARKDOWN=$file\` |

Each bug is a patch of \`tests/mutants\`, planted alone. The simulation plays seeds of one subject in one class of
faults, from seed 1 on, until a verdict comes that must not come: at most $seeds seeds, and at most $explained where
the patch says why none can find it. $found of $count hunts found their bug. The column "tests" has the kinds of tests
that fail with the bug in \`make mutants\`.

| bug | kind | tests | subject and class | seeds until found | verdict, or why it is not found |
|---|---|---|---|---|---|
PAGE
cat "$rows"
patches=(tests/mutants/*.patch)
all=$(others)
printf '\n## Mutants of what is simulated that are not hunted\n\n| mutant | why |\n|---|---|\n'
grep -P '^\t' <<<"$all" | awk -F'\t' '{ printf "| `%s` | %s |\n", $2, $3 }'
printf '\n## Mutants of what is not simulated\n\n| mutants | they change |\n|---|---|\n'
grep -vP '^\t' <<<"$all" | cut -f1 | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/| \1 | \2 |/'
printf '\n%s of %s mutants are hunted.\n' "$((${#patches[@]} - $(wc -l <<<"$all")))" \
    "${#patches[@]}"
