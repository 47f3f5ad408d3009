#!/bin/bash
# SPDX-License-Identifier: MIT
# commands.sh -- the help of every program and command, and the message for a missing argument.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
mapfile -t commands < <("$seckill" help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
"$seckill" help environment >"$work/environment"

# The programs, some with a command.
programs=(seckilld)
for command in "${commands[@]}"; do programs+=("seckill $command"); done

# run PROGRAM ARGUMENT...: "seckill load" --help
run() {
    local program
    read -ra program <<<"$1"
    shift
    "$root/build/${program[0]}" "${program[@]:1}" "$@" </dev/null
}

# The flags that `seckill help environment` lists for a program.
flags_of() { sed -n "s/^SECKILL_[A-Z_]* *$1 --\([a-z-]*\)\$/\1/p" "$work/environment"; }

# for_each FUNCTION: call it for every program; the programs for which it fails are printed.
for_each() {
    local program out failures=0
    for program in "${programs[@]}"; do
        out=$("$1" "$program" 2>&1) || {
            printf '%s: %s\n' "$program" "$out"
            failures=$((failures + 1))
        }
    done
    [ "$failures" -eq 0 ]
}

there_are_commands() { [ "${#commands[@]}" -ge 14 ]; }

# help_names_its_flags PROGRAM
help_names_its_flags() {
    local flag count=0
    run "$1" --help >"$work/help" || return 1
    for flag in $(flags_of "$1"); do
        grep -q -e "^  --${flag}[=[ ]" "$work/help" || {
            echo "--$flag is not in --help"
            return 1
        }
        count=$((count + 1))
    done
    [ "$count" -gt 0 ] || echo 'it has no settings' && [ "$count" -gt 0 ]
}

help_command_is_the_same() {
    case $1 in seckilld) return 0 ;; esac
    cmp <(run "$1" --help) <("$seckill" help "${1#seckill }")
}

help_has_an_example() {
    run "$1" --help >"$work/help" && grep -q "^  *$1\( \|\$\)" "$work/help"
}

# The help has a line for each exit status of the program, which include 0 and 64.
help_tells_the_exit_status() {
    run "$1" --help | sed -n '/^Exit status$/,$p' >"$work/help"
    grep -q '^  0   ' "$work/help" && grep -q '^  64  ' "$work/help"
}

# Each exit status is in that section of the manual page.
manual_tells_the_exit_status() {
    run "$1" --help | awk -v page=x -v version=0 -v what=x -f "$root/tools/manual-program.awk" |
        sed -n '/^\.SH "EXIT STATUS"$/,/^\.SH/p' | grep -q '^  64  '
}

# A line of one word between a long line and another line of the same paragraph is the rest of a
# line that was wrapped twice.
help_has_no_rest_of_a_line() {
    local rests
    rests=$(run "$1" --help | awk '
        function indent(line) { match(line, /^ */); return RLENGTH }
        function is_text(line) { return line != "" && line !~ /^ *([$]|one of:|-)/ }
        length(before) > 70 && split(last, words, " ") == 1 && is_text(last) && is_text($0) &&
            indent(before) == indent(last) && indent(last) == indent($0) { print before; print last }
        { before = last; last = $0 }')
    printf '%s\n' "$rests"
    [ -z "$rests" ]
}
help_fits_a_terminal() {
    local long
    long=$({ run "$1" --help && "$seckill" help; } | awk 'length($0) > 100')
    [ -z "$long" ] || { echo "$long" && false; }
}

unknown_flag() {
    status 64 run "$1" --hlep && says 'unknown flag --hlep; did you mean --help' run "$1" --hlep
}

unknown_variable() {
    SECKILL_LAB_DRI=x status 64 run "$1" &&
        SECKILL_LAB_DRI=x says \
            'unknown environment variable SECKILL_LAB_DRI; did you mean SECKILL_LAB_DIR\?' \
            run "$1"
}

foreign_variable() {
    SECKILL_PROXY_TARGET=x SECKILL_LOCK_SCOPE=user SECKILL_LAB_DATA=/tmp \
        status 0 run "$1" --show-config
}

unknown_key() {
    printf '\nlab-dri = x\n' >"$work/file.conf"
    status 64 run "$1" --config="$work/file.conf" --show-config &&
        says 'file.conf:2: unknown key "lab-dri"; did you mean "lab-dir"\?' \
            run "$1" --config="$work/file.conf" --show-config
}

foreign_key() {
    echo 'proxy-target = x' >"$work/file.conf"
    status 0 run "$1" --config="$work/file.conf" --show-config
}

# The output of --show-config is a settings file.
shown_file() {
    run "$1" --show-config >"$work/shown.conf" &&
        status 0 run "$1" --config="$work/shown.conf" --show-config >"$work/shown-again" &&
        diff <(sed 's/  # .*//' "$work/shown.conf") <(sed 's/  # .*//' "$work/shown-again")
}

unreadable_file() {
    status 64 run "$1" --config=/tmp --show-config &&
        says 'cannot read /tmp: it is a directory' run "$1" --config=/tmp --show-config
}

# Outputs are named out, html, tokens and, where no switch has that name, record.
outputs_of() {
    case $1 in
        'seckill load') flags_of "$1" | grep -xE 'out|html' ;; # it reads its tokens
        seckilld | 'seckill fault') flags_of "$1" | grep -xE 'out|html|tokens|record' ;;
        *) flags_of "$1" | grep -xE 'out|html|tokens' ;;
    esac
}

# /proc accepts no new files, not even from root. The service reads its secrets before it opens its
# outputs, and connects to its stores after that.
unwritable=/proc/nothing/here
stores=(SECKILL_TOKEN_KEY_FILE="$work/token.key" SECKILL_REDIS_URL=redis://127.0.0.1:1
    SECKILL_DATABASE_URL=postgresql://nobody@127.0.0.1:1/nothing)
env "${stores[@]}" "$seckill" seed --users=0 --vouchers=0
unwritable_output() {
    local flag path=$unwritable
    local -x "${stores[@]}"
    for flag in $(outputs_of "$1"); do
        status 73 run "$1" --"$flag"="$path" || return 1
        says "cannot write $path \(--$flag\): " run "$1" --"$flag"="$path" || return 1
    done
}

some_have_outputs() {
    local program count=0
    for program in "${programs[@]}"; do
        count=$((count + $(outputs_of "$program" | wc -l)))
    done
    [ "$count" -ge 11 ]
}

# cannot_write COMMAND...: the command ends with 73, and names the path.
cannot_write() { says "cannot (write|make) .*$unwritable.*: No such file" status 73 "$@"; }
unwritable_secrets() {
    local keys=(--users=0 --vouchers=0)
    local -x "${stores[@]}"
    cannot_write "$seckill" seed "${keys[@]}" --token-key-file="$unwritable" &&
        cannot_write "$seckill" seed "${keys[@]}" --admin-token-file="$unwritable" &&
        cannot_write "$seckilld" --admin-token-file="$unwritable"
}
unwritable_lab() {
    : >"$work/file"
    cannot_write "$seckill" lab up --dir="$unwritable" &&
        says "cannot make $work/file/lab: Not a directory" status 73 "$seckill" lab up --dir="$work/file/lab" &&
        SECKILL_LAB_DATA=$unwritable says "$unwritable is no place" status 73 "$seckill" lab up --dir="$work/lab" &&
        [ ! -e "$work/lab" ]
}

output_over_a_directory() {
    mkdir -p "$work/taken"
    says 'Is a directory' status 73 run 'seckill check' --html="$work/taken" "$work" &&
        : >"$work/plain" &&
        says 'Not a directory' status 73 run 'seckill compare' --out="$work/plain"
}

probing_leaves_nothing() {
    mkdir -p "$work/empty"
    status 64 run 'seckill check' --html="$work/empty/page.html"
    [ -z "$(ls -A "$work/empty")" ]
}

# An output that is a FIFO gets the text, and stays; the file of a symbolic link is replaced.
outputs_keep_their_kind() {
    local histories=("$root"/tests/histories/good/*.txt) there=$work/kinds reader
    mkdir -p "$there/far" && mkfifo "$there/pipe" && ln -s far/page "$there/link" && echo mine >"$there/far/page.new"
    cat "$there/pipe" >"$there/text" &
    reader=$!
    own "$reader"
    "$seckill" check "${histories[0]}" --html="$there/pipe" && wait "$reader" && [ -p "$there/pipe" ] &&
        grep -q '</html>' "$there/text" && "$seckill" check "${histories[0]}" --html="$there/link" &&
        [ -L "$there/link" ] && cmp "$there/text" "$there/far/page" && [ "$(cat "$there/far/page.new")" = mine ]
}
tokens_keep_their_kind() {
    local there=$work/token-kinds reader
    mkdir -p "$there" && mkfifo "$there/pipe"
    cat "$there/pipe" >"$there/text" &
    reader=$!
    own "$reader"
    "$seckill" seed --users=3 --vouchers=0 --token-key-file="$there/key" --tokens="$there/pipe" && wait "$reader" &&
        [ -p "$there/pipe" ] && [ "$(wc -l <"$there/text")" -eq 3 ] && ln -s tokens "$there/link" &&
        "$seckill" seed --users=3 --vouchers=0 --token-key-file="$there/key" --tokens="$there/link" &&
        [ -L "$there/link" ] && [ "$(stat -c %a "$there/tokens")" = 600 ]
}
dash_is_no_page() {
    local histories=("$root"/tests/histories/good/*.txt)
    says 'html "-" \(flag\): expected the name of a file' status 64 "$seckill" check "${histories[0]}" --html=- &&
        says 'markdown "-" \(flag\): expected the name of a file' status 64 "$seckill" compare --markdown=-
}

# The files of a run can be read by other users, like the files beside them.
page_may_be_read() {
    local histories=("$root"/tests/histories/good/*.txt)
    umask 022
    "$seckill" check "${histories[0]}" --html="$work/page.html"
    [ "$(stat -c %a "$work/page.html")" = 644 ]
}

check_without_records() {
    mkdir -p "$work/no-records"
    status 64 "$seckill" check "$work/no-records" &&
        says "no records in $work/no-records" "$seckill" check "$work/no-records"
}

# A malformed value of a setting gives exit status 64 and one line of at most 1000 bytes.
odd_values() {
    local value out long
    long=$(head -c 100000 /dev/zero | tr '\0' 9)
    for value in -1 1e9 0x10 '' ' 5' 5. '５' 99999999999999999999 "$long"; do
        out=$(status 64 "$seckill" seed --stock="$value" 2>&1) || return 1
        if [ "$(wc -l <<<"$out")" -ne 1 ] || [ ${#out} -ge 1000 ]; then
            echo "${#out} bytes: ${out:0:1000}"
            return 1
        fi
    done
}

one_table_of_exit_codes() {
    "$seckill" help >"$work/help" &&
        grep -q '^  73   cannot-write  an output file, a directory or standard output' "$work/help"
}

docs_have_the_exit_codes() {
    # A long text is continued in the next line.
    "$seckill" help | awk '
        /^Exit status:/ { inside = 1; next }
        inside && /^  [0-9]/ { if (row) print row " |"; row = "| " $1 " | " $2 " |"; $1 = $2 = ""; sub(/^ +/, " ") }
        inside && /^ / { sub(/^ +/, ""); row = row " " $0; next }
        inside { print row " |"; exit }' >"$work/codes"
    [ "$(wc -l <"$work/codes")" -eq 9 ] &&
        diff "$work/codes" <(grep '^| [0-9]' "$root/docs/reference/exit-codes.md")
}

plan 35
check 'the help lists the commands' there_are_commands
check '--help exits with 0 and names every setting' for_each help_names_its_flags
check 'help COMMAND says what COMMAND --help says' for_each help_command_is_the_same
check '--help has an example to type' for_each help_has_an_example
check '--help says what each exit status means' for_each help_tells_the_exit_status
check 'the manual page has a section of exit statuses' for_each manual_tells_the_exit_status
check '--help fits a terminal of 100 columns' for_each help_fits_a_terminal
check '--help has no rest of a line that was wrapped twice' for_each help_has_no_rest_of_a_line
check 'an unknown flag gives 64 and the nearest one' for_each unknown_flag
check 'an unknown variable gives 64 and the nearest one' for_each unknown_variable
check 'a variable of another program is passed over' for_each foreign_variable
check 'an unknown key of a file gives 64, the line and the nearest one' for_each unknown_key
check 'a key of another program is passed over' for_each foreign_key
check 'the output of --show-config is a settings file' for_each shown_file
check 'a settings file that cannot be read gives 64' for_each unreadable_file
check 'at least eleven settings name outputs' some_have_outputs
check 'an output that cannot be written gives 73 and its path' for_each unwritable_output
check 'a secret that cannot be made gives 73 and its path' unwritable_secrets
check 'a lab that cannot be made gives 73 and its path' unwritable_lab
check 'an output must not be a directory, nor stand in a file' output_over_a_directory
check 'to try an output leaves nothing behind' probing_leaves_nothing
check 'a page may be read by others' page_may_be_read
check 'an output that is a FIFO or a symbolic link stays one' outputs_keep_their_kind
check 'the file of the tokens too' tokens_keep_their_kind
check 'a page goes to a file, not to standard output: 64' dash_is_no_page
check 'check says that a directory has no records, with 64' check_without_records
check 'odd numbers give 64 and one short line' odd_values
check 'the help has the table of exit codes' one_table_of_exit_codes
check 'the documentation has the same table' docs_have_the_exit_codes
# Each of the five names a command, with options that the command has.
for_newcomers() {
    local line words word
    status 64 "$seckill" 2>"$work/newcomer" || return 1
    cat "$work/newcomer"
    [ "$(grep -c '^  seckill ' "$work/newcomer")" -eq 5 ] || return 1
    while read -r line; do
        read -r -a words <<<"$line"
        "$seckill" "${words[1]}" --help >"$work/help" || return 1
        for word in "${words[@]:2}"; do
            case $word in
            --) break ;;
            --*) grep -q -- "^  ${word%%=*}[=[ ]" "$work/help" || return 1 ;;
            esac
        done
    done < <(sed -n 's/^  \(seckill [^ ].*\)/\1/p' "$work/newcomer" | sed 's/   .*//')
}
check 'without a command, five are named that a newcomer needs: 64' for_newcomers
names_in_quotes=' holds breaks "fenced off" "dead for ever" "waits for the lease" refuses$'
check 'the help quotes a name with a blank' says "one of:$names_in_quotes" "$seckill" matrix --help
check 'so does a refusal' says "one of:$names_in_quotes" status 64 "$seckill" matrix --expect=fenced
check 'the list of commands names each thing to do with a lab' says 'up, down, status, restart, kill' "$seckill" help
check 'help about an unknown command gives 64' status 64 "$seckill" help loda
check 'help about an unknown command names the nearest' \
    says 'did you mean "load"' "$seckill" help loda
done_testing
