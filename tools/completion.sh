#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016  # what is printed is expanded later
# completion.sh bash|zsh BUILD -- print the completion of seckill and seckilld for that shell.
#
# Commands, flags and the names that a flag accepts are read from what BUILD/seckilld and
# BUILD/seckill print for --help, which comes from the tables of settings.  zsh shows their
# help beside them, too.
set -euo pipefail
[ $# -eq 2 ] || { echo 'usage: completion.sh bash|zsh BUILD' >&2; exit 64; }
shell=$1 build=$2
mapfile -t commands < <("$build/seckill" --help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p')

# help_of PROGRAM: print the help of "seckilld" or of "seckill COMMAND".
help_of() {
    local words
    read -r -a words <<<"$1"
    env -i "$build/${words[0]}" "${words[@]:1}" --help
}

# words_of PROGRAM: print the words that may follow it: those of its synopsis, and its flags.
words_of() {
    help_of "$1" | awk -v program="$1" '
        /^Usage: / { sub("^Usage: " program " ?", ""); count = split($0, parts, /[ |]+/)
                     for (i = 1; i <= count; i++) if (parts[i] ~ /^[a-z][a-z-]*$/) print parts[i] }
        /^  --[a-z]/ { flag = $1; sub(/[,[].*/, "", flag); sub(/=.*/, "=", flag); print flag }' |
        awk '!seen[$0]++' | paste -sd' '
}

# choices_of PROGRAM: lines "--flag name name ...", with a name that has blanks in double quotes.
choices_of() {
    help_of "$1" | awk '
        /^  --[a-z]/ { flag = $1; sub(/[=,[].*/, "", flag) }
        /^      one of: / { sub(/^ *one of: /, ""); names = flag " " $0; open = 1; next }
        /^      all, or any of these / { sub(/^.*: /, ""); names = flag " all " $0; open = 1; next }
        open && /^      [a-z"]/ && !/\$SECKILL/ { sub(/^ */, ""); names = names " " $0; next }
        open { print names; open = 0 }
        END { if (open) print names }'
}

# operands_of WORDS: print the names that may follow a command and its first word.
operands_of() {
    case $1 in
    'seckill scenario run') echo all topologies "$(env -i "$build/seckill" scenario list | awk '/^[^ ]/ { print $2 }' | paste -sd' ')" ;;
    'seckill fault run') env -i "$build/seckill" fault list | awk '/^[^ ]/ { print $1 }' | paste -sd' ' ;;
    esac
}

# texts_of PROGRAM: lines "--flag:help", the help up to the end of its first sentence.
texts_of() {
    help_of "$1" | awk '
        function put() {
            if (flag != "") { sub(/[:.;] .*/, "", text); sub(/[.]$/, "", text); print flag ":" text }
            flag = text = ""
        }
        /^  --[a-z]/ {
            put()
            flag = $1; sub(/[,[].*/, "", flag); sub(/=.*/, "", flag)
            # A setting that every program knows has its help on the same line.
            if (match($0, /   +/)) text = substr($0, RSTART + RLENGTH)
            next
        }
        /^      (one of: |all, or any of these |\$SECKILL)/ { put(); next }
        flag != "" && /^      / { sub(/^ */, ""); text = text (text == "" ? "" : " ") $0; next }
        { put() }
        END { put() }'
}

quoted() { printf '%s' "${1//\'/\'\\\'\'}"; }

# table NAME FUNCTION PROGRAM...: print a shell function NAME that prints, for each PROGRAM, the
# output of FUNCTION.
table() {
    local name=$1 function=$2 program
    shift 2
    printf '%s() {\n    case $1 in\n' "$name"
    for program; do
        printf "    '%s') printf '%%s\\\\n' '%s' ;;\n" "$program" "$(quoted "$("$function" "$program")")"
    done
    printf '    esac\n}\n'
}

programs=(seckilld "${commands[@]/#/seckill }")
[ "$shell" = bash ] || echo '#compdef seckill seckilld'
printf '# Completion of seckill and seckilld; written by tools/completion.sh from their --help.\n'
table _seckill_words words_of "${programs[@]}"
table _seckill_operands operands_of 'seckill scenario run' 'seckill fault run'
printf '_seckill_choices() {\n    case "$1 $2" in\n'
for program in "${programs[@]}"; do
    while read -r flag names; do printf "    '%s %s') printf '%%s\\\\n' '%s' ;;\n" "$program" "$flag" "$names"; done < <(choices_of "$program")
done
printf '    esac\n}\n'
case $shell in
bash)
    printf '_seckill_commands="%s"\n' "${commands[*]}"
    cat <<'END'
# Bash breaks words at "=", unless COMP_WORDBREAKS lacks it.  The part before the last comma
# of a value stays.
_seckill() {
    local program=${COMP_WORDS[0]##*/} current=${COMP_WORDS[COMP_CWORD]} flag='' value='' kept='' names='' words i
    COMPREPLY=()
    if [ "$program" = seckill ]; then
        if [ "$COMP_CWORD" -eq 1 ]; then
            COMPREPLY=($(compgen -W "$_seckill_commands" -- "$current"))
            return
        fi
        program="seckill ${COMP_WORDS[1]}"
        if [ "$program" = 'seckill help' ] && [ "$COMP_CWORD" -eq 2 ] && [[ $current != -* ]]; then
            COMPREPLY=($(compgen -W "$_seckill_commands environment" -- "$current"))
            return
        fi
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
        # A name is offered until the line has one.
        [ "$COMP_CWORD" -le 2 ] || [[ $current == -* ]] || names=$(_seckill_operands "$program ${COMP_WORDS[2]}")
        words=$(_seckill_words "$program")
        for ((i = 3; i < COMP_CWORD; i++)); do
            # The value of a flag is no name.
            [[ ${COMP_WORDS[i - 1]} == = || " $words " == *" ${COMP_WORDS[i - 1]}= "* ]] ||
                [[ " $names " != *" ${COMP_WORDS[i]} "* ]] || names=''
        done
        COMPREPLY=($(compgen -W "${names:-$words}" -- "$current"))
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
        return 0
    fi
    names=$(_seckill_choices "$program" "$flag")
    if [ -n "$names" ]; then
        [[ $value != *,* ]] || kept=$kept${value%,*}, names=${names#all }
        value=${value//\\ / }
        while IFS= read -r words; do COMPREPLY+=("${words// /\\ }"); done < <(compgen -P "$kept" -W "$names" -- "${value##*,}")
    else
        COMPREPLY=($(compgen -P "$kept" -f -- "$value"))
    fi
}
complete -F _seckill seckill seckilld
END
    ;;
zsh)
    table _seckill_texts texts_of "${programs[@]}"
    printf '_seckill_commands() {\n    local -a commands=(\n'
    "$build/seckill" --help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\)  *\(.*\)/\1:\2/p' | while IFS= read -r line; do
        printf "        '%s'\n" "$(quoted "$line")"
    done
    cat <<'END'
        "$@"
    )
    _describe -t commands command commands
}
# _seckill_value PROGRAM FLAG: a name that the flag accepts, or a file.
_seckill_value() {
    local -a names=(${(Q)${(z)"$(_seckill_choices "$1" "$2")"}})
    if (( $#names )); then
        compset -P '*,' && names=(${names:#all})
        compadd -a names
    else
        _files
    fi
}
# Each flag is added with its help; none that needs a value is followed by a blank.
_seckill_flags() {
    local -A text
    local -a open closed
    local word line
    for line in ${(f)"$(_seckill_texts $1)"}; do text[${line%%:*}]=${line#*:}; done
    for word in $(_seckill_words $1); do
        case $word in
            --*=) open+=("$word:$text[${word%=}]") ;;
            --*) closed+=("$word:$text[$word]") ;;
        esac
    done
    _describe -o -t flags flag open -S '' -- closed
}
_seckill() {
    local program=${words[1]:t} before=$words[CURRENT-1] flag i
    local -a operands
    if [[ $program == seckill ]]; then
        if (( CURRENT == 2 )); then
            _seckill_commands
            return
        fi
        program="seckill $words[2]"
        if [[ $program == 'seckill help' && $PREFIX != -* ]] && (( CURRENT == 3 )); then
            _seckill_commands 'environment:the variables of all programs'
            return
        fi
        (( $words[(I)--] == 0 || $words[(I)--] >= CURRENT )) || program=seckilld
    fi
    if [[ $PREFIX == --*=* ]]; then
        flag=${PREFIX%%=*}
        compset -P 1 '*='
        _seckill_value "$program" "$flag"
    elif [[ $before == --* && " $(_seckill_words "$program") " == *" $before= "* ]]; then
        _seckill_value "$program" "$before"
    elif [[ $PREFIX == -* ]]; then
        _seckill_flags "$program"
    else
        # A name is offered until the line has one.
        (( CURRENT <= 3 )) || operands=($(_seckill_operands "$program $words[3]"))
        for (( i = 4; i < CURRENT; i++ )); do
            # The value of a flag is no name.
            [[ " $(_seckill_words "$program") " == *" $words[i-1]= "* ]] ||
                (( ! $operands[(Ie)$words[i]] )) || operands=()
        done
        if (( $#operands )); then
            compadd -a operands
            return
        fi
        operands=(${$(_seckill_words "$program"):#-*})
        (( $#operands )) && compadd -a operands
        _seckill_flags "$program"
    fi
}
_seckill "$@"
END
    ;;
*) echo "completion.sh: no completion for $shell" >&2; exit 64 ;;
esac
