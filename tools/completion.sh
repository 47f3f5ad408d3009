#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016  # what is printed is expanded later
# completion.sh BUILD -- print the completion of seckill and seckilld for bash.
#
# Commands, flags and the names that a flag accepts are read from what BUILD/seckilld and
# BUILD/seckill print for --help, which comes from the tables of settings.
set -euo pipefail
[ $# -eq 1 ] || { echo 'usage: completion.sh BUILD' >&2; exit 64; }
build=$1
mapfile -t commands < <("$build/seckill" --help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p')

# help_of PROGRAM: of "seckilld" or "seckill COMMAND".
help_of() {
    local words
    read -r -a words <<<"$1"
    env -i "$build/${words[0]}" "${words[@]:1}" --help
}

# words_of PROGRAM: what may follow it: the words of its synopsis, and its flags.
words_of() {
    help_of "$1" | awk -v program="$1" '
        /^Usage: / { sub("^Usage: " program " ?", ""); count = split($0, parts, /[ |]+/)
                     for (i = 1; i <= count; i++) if (parts[i] ~ /^[a-z][a-z-]*$/) print parts[i] }
        /^  --[a-z]/ { flag = $1; sub(/[,[].*/, "", flag); sub(/=.*/, "=", flag); print flag }' |
        awk '!seen[$0]++' | paste -sd' '
}

# choices_of PROGRAM: lines "--flag name name ...".
choices_of() {
    help_of "$1" | awk '
        /^  --[a-z]/ { flag = $1; sub(/[=,[].*/, "", flag) }
        /^      one of: / { sub(/^ *one of: /, ""); names = flag " " $0; open = 1; next }
        open && /^      [a-z]/ && !/\$SECKILL/ { sub(/^ */, ""); names = names " " $0; next }
        open { print names; open = 0 }
        END { if (open) print names }'
}

programs=(seckilld "${commands[@]/#/seckill }")
printf '# Completion of seckill and seckilld; written by tools/completion.sh from their --help.\n'
printf '_seckill_commands="%s"\n' "${commands[*]}"
printf '_seckill_words() {\n    case $1 in\n'
for program in "${programs[@]}"; do printf "    '%s') echo '%s' ;;\n" "$program" "$(words_of "$program")"; done
printf '    esac\n}\n_seckill_choices() {\n    case "$1 $2" in\n'
for program in "${programs[@]}"; do
    while read -r flag names; do printf "    '%s %s') echo '%s' ;;\n" "$program" "$flag" "$names"; done < <(choices_of "$program")
done
printf '    esac\n}\n'
cat <<'END'
# Bash breaks words at "=", unless COMP_WORDBREAKS lacks it.  What stands before the last comma
# of a value stays.
_seckill() {
    local program=${COMP_WORDS[0]##*/} current=${COMP_WORDS[COMP_CWORD]} flag='' value='' kept='' names i
    COMPREPLY=()
    if [ "$program" = seckill ]; then
        if [ "$COMP_CWORD" -eq 1 ]; then
            COMPREPLY=($(compgen -W "$_seckill_commands help" -- "$current"))
            return
        fi
        program="seckill ${COMP_WORDS[1]}"
        for ((i = 2; i < COMP_CWORD; i++)); do
            [ "${COMP_WORDS[i]}" != -- ] || program=seckilld
        done
    fi
    if [ "$current" = = ]; then
        flag=${COMP_WORDS[COMP_CWORD - 1]}
    elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
        flag=${COMP_WORDS[COMP_CWORD - 2]} value=$current
    elif [[ $current == --*=* ]]; then
        flag=${current%%=*} value=${current#*=} kept=$flag=
    else
        COMPREPLY=($(compgen -W "$(_seckill_words "$program")" -- "$current"))
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
        return 0
    fi
    names=$(_seckill_choices "$program" "$flag")
    if [ -n "$names" ]; then
        [[ $value != *,* ]] || kept=$kept${value%,*},
        COMPREPLY=($(compgen -P "$kept" -W "$names" -- "${value##*,}"))
    else
        COMPREPLY=($(compgen -P "$kept" -f -- "$value"))
    fi
}
complete -F _seckill seckill seckilld
END
