#!/bin/bash
# SPDX-License-Identifier: MIT
# locks.sh -- the table of locks, the help texts, and the messages for mistakes.
redis_url=$SECKILL_REDIS_URL
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 31

every_lock() {
    local out lock name count=0
    out=$("$seckill" locks) || return 1
    for lock in "$root"/lock/variants/*.c; do
        name=$(basename "$lock" .c)
        grep -q "^${name//_/-} " <<<"$out" || {
            echo "no $name"
            return 1
        }
        count=$((count + 1))
    done
    [ "$count" -ge 7 ]
}
same_names() {
    diff <("$seckill" locks | sed -n '2,$p' | grep -v '^ ' | cut -d' ' -f1) \
        <("$seckill" locks --json | sed -n 's/.*"name": "\(.*\)",/\1/p')
}

check 'the table has every lock' every_lock
check 'each line says what breaks it' says 'breaks: ' "$seckill" locks
check 'the JSON has the same locks' same_names
check '--help teaches' says 'seckill compare --locks=' "$seckill" --help
for command in compare lab seed load audit locks lock proxy bench bench-locks; do
    check "$command --help has an example" says "^  (seckill|SECKILL_).*$command" \
        "$seckill" "$command" --help
done
# A lock in Redisson's form, with an owner in this library's form.
name=cli:$$
address=${redis_url##*[@/]} password=${redis_url%@*}
redis() {
    REDISCLI_AUTH=${password##*:} redis-cli -h "${address%:*}" -p "${address##*:}" "$@"
}
hold() { redis hset "$name" "$1" 2 && redis pexpire "$name" 30000; }
export SECKILL_REDIS_URL=$redis_url
hold >/dev/null a-b-c:7
check 'lock show tells who holds it' says '^owner +a-b-c:7$' "$seckill" lock show "$name"
check 'its JSON has the levels' says '"holdCount": 2' "$seckill" lock show "$name" --json
check 'lock force frees it' says 'freed' "$seckill" lock force "$name"
check 'and then nobody holds it' status 1 "$seckill" lock force "$name"
strange=$name$(printf '\377')
name=$strange hold >/dev/null "$(printf 'a\033[31m\376')"
check 'a name and an owner that are no text are still JSON' \
    says '"owner": "a\\\\x1b\[31m\\\\xfe"' \
    "$seckill" lock show "$strange" --json
check 'and do not reach the terminal' says '^owner +a\\x1b\[31m\\xfe$' \
    "$seckill" lock show "$strange"
redis del "$strange" >/dev/null
# A name with an ASCII control is refused; U+009B and U+202E may stand in a name.
odd=$'a\033[31m\a\xc2\x9b' turned=$'b\xc2\x9b\xe2\x80\xae'
check 'an error shows a refused name as escapes' \
    says '^seckill lock: a\\x1b\[31m\\x07\\u009b [(]' status 64 "$seckill" lock show "$odd"
shown() { says "$@" && ! "${@:2}" 2>&1 | LC_ALL=C grep -q $'\x9b\|\x80\xae'; }
check 'a name that turns the direction is shown as escapes' \
    shown '^b\\u009b\\u202e [(]reentrant[)]: free$' "$seckill" lock show "$turned"
check 'also when it is freed' \
    shown '^b\\u009b\\u202e [(].*: nobody held it$' "$seckill" lock force "$turned"
# Wrong URLs with a password, as flags, in the environment and in a file.
bad_urls='redis://:GEH/EIM@127.0.0.1:1 redis://u:GEH@EIM@127.0.0.1:1 redis://u:GEH%zz@127.0.0.1:1
    redis://u:GEHEIM redis-sentinel://u:GEH/EIM@127.0.0.1/m redis-sentinel://u:1/GEH@127.0.0.1
    redis-cluster://u:GEH@EIM@127.0.0.1:1 rediss://u:GEH?EIM=@127.0.0.1:1 GEH:EIM@127.0.0.1:1'
secret_kept() {
    local url
    local -x SECKILL_TOKEN_KEY_FILE=$work/key
    for url in $bad_urls; do
        "$seckill" lock show a --redis-url="$url"
        "$seckill" lock show a "--redis-url $url"
        "$seckill" lock show a --redis-urk="$url"
        "$seckill" lock show a b "$url"
        SECKILL_REDIS_URL=$url "$seckill" lock show a
        "$seckill" lock show a --lock=pg-unique --database-url="postgresql${url#redis}"
        "$seckill" lock show a --lock=etcd --etcd-url="http${url#redis}"
        "$seckill" lock show a --lock=zk-seq --zookeeper-url="${url##*/}"
        "$seckilld" --redis-url="$url" --database-url=postgresql://127.0.0.1:1/d
        "$seckilld" --database-url="postgresql${url#redis}"
        "$seckilld" --database-url=postgresql://127.0.0.1:1/d --etcd-url="http${url#redis}"
        (umask 077 && echo "redis-url = $url" >"$work/bad.conf")
        env -u SECKILL_REDIS_URL "$seckilld" --database-url=postgresql://127.0.0.1:1/d \
            --config="$work/bad.conf"
    done >"$work/kept" 2>&1
    [ "$(grep -c '^seckill' "$work/kept")" -ge 90 ] && ! grep -E 'GEH|EIM' "$work/kept"
}
check 'no error has a piece of a password in a wrong URL' secret_kept
check 'lock show asks the ZooKeeper that it is given' says \
    'could not reach the store, or the store cannot work now: ' \
    "$seckill" lock show "$name" --lock=zk-seq --zookeeper-url=127.0.0.1:1
check 'a wrong word is a usage error' status 64 "$seckill" lock shwo "$name"
check 'an unknown command is refused with the nearest' \
    says 'did you mean "compare"' "$seckill" comapre
check 'an unknown lock is refused with the nearest' \
    says 'did you mean "redlock"' "$seckill" compare --locks=redlok
check 'capital letters are no other name' says 'unknown "LUA"; did you mean "lua"[?]$' status 64 "$seckill" compare --locks=LUA
# guesses WANTED COMMAND...: a command refuses its last word, with the nearest word that it knows.
guesses() { says "^seckill $2: unknown command \"${*: -1}\"; did you mean \"$1\"[?]\$" status 64 "$seckill" "${@:2}"; }
words_of_commands() { guesses list scenario lst && guesses run fault rnu && guesses status lab sttus; }
check 'the word behind a command is refused with the nearest' words_of_commands
check 'both are usage errors' status 64 "$seckill" compare --hazards=nothing
done_testing
