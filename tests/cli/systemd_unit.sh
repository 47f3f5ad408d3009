#!/bin/bash
# SPDX-License-Identifier: MIT
# systemd_unit.sh -- the unit of docs/how-to/operate-the-service.md: systemd understands each line,
# and after each way in which seckilld really ends, its lines lead to the start that the page says.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 10
lab=$work/lab
labs+=("$lab")
"$seckill" lab up --dir "$lab" >/dev/null || exit 1
# shellcheck disable=SC1091  # written by the lab
. "$lab/env"
# The service has only the settings of its file.
export -n SECKILL_DATABASE_URL SECKILL_REDIS_URL SECKILL_TOKEN_KEY_FILE

# The unit of the page, with the program of the build and settings of the lab.
unit=$work/seckilld.service conf=$work/seckilld.conf
umask 077
sed -n '/^\[Unit\]/,/^WantedBy=/p' "$root/docs/how-to/operate-the-service.md" |
    sed "s|/usr/local/bin/seckilld|$seckilld|; s|/etc/seckill/seckilld.conf|$conf|" >"$unit"

# value KEY DEFAULT: print what the unit says, else systemd's default.
value() {
    local said
    said=$(sed -n "s/^$1=//p" "$unit" | tail -n 1)
    echo "${said:-$2}"
}

# settings [LINE...]: write the settings; the first line replaces the lab's of the same name.
settings() {
    local first=${1:-none}
    printf '%s\n' "database-url = $SECKILL_DATABASE_URL" "redis-url = $SECKILL_REDIS_URL" \
        "token-key-file = $SECKILL_TOKEN_KEY_FILE" 'listen = 127.0.0.1:0' \
        'admin-listen = 127.0.0.1:0' | grep -v "^${first%% *} " >"$conf"
    printf '%s\n' "$@" >>"$conf"
}

read -r -a command <<<"$(value ExecStart none)"
begin() {
    : >"$work/out"
    "${command[@]}" >"$work/out" 2>>"$work/log" &
    pid=$!
    own "$pid"
}
is_ready() { soon grep -q '^ready' "$work/out"; }
# ends [SIGNAL]: the service begins, and ends by itself or by the signal; then its status is in
# $ended, and its time in $took_ms.
ends() {
    local since
    since=$(date +%s%3N)
    begin
    [ $# -eq 0 ] || { is_ready && send "$1" "$pid"; }
    ended=0
    wait "$pid" || ended=$?
    took_ms=$(($(date +%s%3N) - since))
}

# is_restarted: does systemd start it after $ended?  See systemd.service(5), and for the limit of
# five starts in a time systemd.unit(5).
is_restarted() {
    local kept within
    for kept in $(value RestartPreventExitStatus ''); do [ "$ended" -ne "$kept" ] || return 1; done
    case $(value Restart no) in
    always) ;;
    on-failure) [ "$ended" -ne 0 ] || return 1 ;;
    *) return 1 ;;
    esac
    within=$(value StartLimitIntervalSec 10)
    [ "$within" -eq 0 ] ||
        [ $((5 * (took_ms + 1000 * $(value RestartSec 0)))) -gt $((1000 * within)) ]
}
stays_down() { ! is_restarted; }
# leads_to STATUS COMMAND: was that the status, and does the unit then do that?
leads_to() {
    echo "status $ended after $took_ms ms; $(tail -n 3 "$work/log")"
    [ "$ended" -eq "$1" ] && "$2"
}

# systemd-analyze only warns of a line that it does not know.
verify() {
    local said
    said=$(systemd-analyze verify --man=no "$1" 2>&1) || { echo "$said" && return 1; }
    echo "$said"
    [ -z "$said" ]
}
names_a_misspelt_line() {
    mkdir "$work/misspelt" && sed 's/^Restart=/Restarts=/' "$unit" >"$work/misspelt/${unit##*/}"
    says 'Restarts' status 1 verify "$work/misspelt/${unit##*/}"
}
verified() {
    if command -v systemd-analyze >/dev/null; then
        check "$@"
    else
        echo "ok $((++number)) - $1 # SKIP no systemd-analyze; to install: tools/deps.sh test"
    fi
}
verified 'systemd understands each line of the unit' verify "$unit"
verified 'and names a line that it does not' names_a_misspelt_line

settings 'lock = nonsense'
ends
check 'a wrong setting ends it with 64, and it stays down' leads_to 64 stays_down
settings "database-url = ${SECKILL_DATABASE_URL/:*@/://seckill_service:wrong@}"
ends
check 'a wrong password: 69, and it is started again without an end' leads_to 69 is_restarted
check 'at once' test "$took_ms" -lt 10000
settings 'database-url = postgresql://nobody@127.0.0.1:1/seckill' 'start-timeout = 1s'
ends
check 'a database that does not answer: 69, and it is started again' leads_to 69 is_restarted
settings
ends HUP
check 'SIGHUP ends it with 0, and it is started again' leads_to 0 is_restarted
ends TERM
check 'so it is after a SIGTERM that is not of systemctl stop' leads_to 0 is_restarted
ends KILL
check 'and after a crash' leads_to 137 is_restarted

# As logrotate does with copytruncate, while the log is open as by append:.
log_goes_on_at_the_begin() {
    begin
    is_ready && cp "$work/log" "$work/log.1" && truncate --size=0 "$work/log" &&
        send TERM "$pid" && soon gone "$pid" && cat "$work/log" &&
        head -c 5 "$work/log" | grep -qE '^[0-9]{4}-' && grep -q 'stopping' "$work/log"
}
check 'after a copytruncate the log goes on at the begin of its file' log_goes_on_at_the_begin
done_testing
