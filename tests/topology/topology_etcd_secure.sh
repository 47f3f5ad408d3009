#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_etcd_secure.sh -- the lock etcd over TLS and with users, on real etcds: the message for each wrong
# certificate, file, password and token; tokens that end, and rights that change, under load.
#
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 46
pairs=$root/${1:-build/tests/address_pairs} # or the argument, from a sanitizer's build
export ETCDCTL_API=3

# The authority, and certificates NAME.pem with NAME.key.
cd "$work" || exit 1
new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${new_key[@]}" -keyout ca.key -out ca.pem -days 2 -subj '/CN=authority' 2>/dev/null
certify() { # NAME SUBJECT NAMES DAYS
    openssl req "${new_key[@]}" -keyout "$1.key" -out "$1.csr" -subj "$2" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$1.pem" -days "$4" \
        -extfile <(echo "subjectAltName=$3") 2>/dev/null
}
certify server /CN=server DNS:localhost,IP:127.0.0.1 2
certify elsewhere /CN=elsewhere DNS:elsewhere.example 2
certify expired /CN=expired DNS:localhost,IP:127.0.0.1 0
certify client /O=shop DNS:client.example 2
certify named /CN=client DNS:client.example 2
openssl ec -in client.key -aes128 -passout pass:secret -out locked.key 2>/dev/null

mapfile -t ports < <("$root/tools/free_ports.py" 7)

# serve PORT SCHEME OPTION...: an etcd of one member.  Its process is $served.
serve() {
    local port=$1 url=$2://127.0.0.1:$1 peer=unix://peer-$1:1
    shift 2
    etcd --name e --data-dir "at-$port" --listen-client-urls "$url" --advertise-client-urls "$url" \
        --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "e=$peer" \
        --logger zap --log-level error "$@" >>"log-$port" 2>&1 &
    served=$!
    own "$served"
    soon answers "$url"
}
answers() { curl -sk --max-time 2 --cert client.pem --key client.key "$1/health" | grep -q '"true"'; }
serve_tls() { # PORT NAME OPTION...
    local port=$1 name=$2
    shift 2
    serve "$port" https --cert-file "$name.pem" --key-file "$name.key" "$@"
}
with_users=(--client-cert-auth --trusted-ca-file ca.pem --auth-token-ttl 2)
serve_tls "${ports[0]}" server
serve_tls "${ports[1]}" elsewhere
serve_tls "${ports[2]}" expired
serve "${ports[3]}" http
serve_tls "${ports[4]}" server "${with_users[@]}"

ca=ca=$work/ca.pem
one=https://127.0.0.1:${ports[0]}
own_certificate=$ca\&cert=$work/client.pem\&key=$work/client.key
secured=127.0.0.1:${ports[4]}

# ---- locks over TLS ----

check 'the lock excludes over TLS' "$pairs" etcd 8 1 300 one "$one?$ca"
check 'a name of the host in place of its address' "$pairs" etcd 2 1 100 own "https://localhost:${ports[0]}?$ca"
check 'a server name that the address is not' "$pairs" etcd 2 1 100 one \
    "https://127.0.0.1:${ports[1]}?server-name=elsewhere.example&$ca"
check 'a certificate of the client' "$pairs" etcd 4 1 200 one "https://$secured?$own_certificate"
check 'a member that does not fit is left for the next' "$pairs" etcd 2 1 100 own \
    "https://127.0.0.1:${ports[2]},127.0.0.1:${ports[0]}?$ca"
trusts_by_environment() { SSL_CERT_FILE=ca.pem "$pairs" etcd 2 1 100 own "$one"; }
check 'an authority that the environment names' trusts_by_environment

# ---- what does not fit ----

# refuses WHAT ADDRESS TEXT [STATUS]: the command ends with that status, and prints TEXT in one line.
refuses() {
    local status=0
    timeout 30 "$seckill" lock show seat --lock=etcd --etcd-url="$2" >out 2>&1 </dev/null || status=$?
    cat out >>all
    check "$1" test "$status" = "${4:-69}" -a "$(wc -l <out)" = 1
    check "$1, in words" grep -qF -- "$3" out
}
refuses 'an authority that nobody trusts' "$one" 'unable to get local issuer certificate: ca=FILE names the authority'
certify stranger /CN=stranger IP:127.0.0.1 2
refuses 'another authority' "$one?ca=$work/stranger.pem" 'issuer certificate: ca=FILE names the authority'
refuses 'the certificate of another host' "https://127.0.0.1:${ports[1]}?$ca" \
    ": server-name=NAME says which name to expect"
refuses 'a certificate that has expired' "https://127.0.0.1:${ports[2]}?$ca" 'certificate has expired'
refuses 'an etcd that wants a certificate' "https://$secured?$ca" ': cert=FILE&key=FILE shows one'
refuses 'a port without TLS' "https://127.0.0.1:${ports[3]}?$ca" 'is its port one of https?'
refuses 'a port of TLS without it' "http://127.0.0.1:${ports[0]}" 'is its port one of https?'
refuses 'a file that is not there' "$one?ca=/nowhere" 'error setting certificate file: /nowhere'
refuses 'a key with a passphrase' "https://$secured?$ca&cert=$work/client.pem&key=$work/locked.key" 'unable to set private key file'
refuses 'an option that there is not' "$one?cacert=x" 'an option behind the ? is unknown' 64

# ---- users ----

ctl() { etcdctl --endpoints="$secured" --cacert=ca.pem --cert=client.pem --key=client.key "$@"; }
as_root() { ctl --user root:toor "$@"; }
user="https://seckill:s%25ch@loss@$secured?$own_certificate"
{
    ctl user add root:toor && ctl user grant-role root root
    ctl role add shop && ctl role grant-permission shop --prefix=true readwrite pairs
    ctl user add 'seckill:s%ch@loss' && ctl user grant-role seckill shop
} >log-ctl 2>&1

# becomes_strict: etcd begins to require users while a program with a user runs.
becomes_strict() {
    local program
    "$pairs" etcd 8 1 3000 one "$user" &
    program=$!
    own "$program"
    sleep 1 # in the middle of the load of three seconds; no state shows the middle
    ctl auth enable
    wait "$program"
}
check 'users may be asked for under load' becomes_strict
check 'the lock excludes for a user with rights to its own keys' "$pairs" etcd 8 1 500 one "$user"
check 'tokens that ended while nobody used them are got anew' "$pairs" etcd 16 2 4000 own "$user" "$user"
changes_rights() {
    local program
    "$pairs" etcd 8 1 3000 own "$user" &
    program=$!
    own "$program"
    for i in 1 2 3 4; do
        sleep 0.4
        as_root role grant-permission shop --prefix=true readwrite "more$i" || return 1
    done
    wait "$program"
}
check 'rights may change under load' changes_rights
refuses 'no user' "https://$secured?$own_certificate" 'etcdserver: user name is empty'
refuses 'a wrong password' "https://seckill:hush-hush@$secured?$own_certificate" 'authentication failed, invalid user ID or password'
refuses 'a user without rights' "$user" 'etcdserver: permission denied'
refuses 'a certificate with a common name beside users' \
    "https://seckill:s%25ch@loss@$secured?$ca&cert=$work/named.pem&key=$work/named.key" 'CommonName of client sending a request against gateway'
check 'no password is shown' test "$(grep -c 'hush-hush\|ch@loss' all)" = 0 -a "$(grep -c 'invalid user' all)" -ge 1
# ---- the service ----

labs+=("$work/lab")
"$seckill" lab up --dir "$work/lab" >log-lab || exit 1
as_root role grant-permission shop --prefix=true readwrite lock: >log-ctl
# shellcheck source=/dev/null
. "$work/lab/env"
service() { # ADDRESS: replace this shell by the service, whose output goes to out-service
    exec "$seckilld" --lock=etcd --etcd-url="$1" --start-timeout=2s --listen="127.0.0.1:${ports[5]}" \
        --admin-listen="127.0.0.1:${ports[6]}" >out-service 2>&1
}
# dies WHAT ADDRESS TEXT: the service fails at this address, and prints TEXT.
dies() {
    local got=0
    (service "$2") || got=$?
    check "$1: the service exits with 69" test "$got" = 69
    check "$1: the service says so" grep -Eq "error .*etcd is not available for --lock=etcd.*$3" out-service
}
dies 'an authority that nobody trusts' "https://seckill:s%25ch@loss@$secured" 'unable to get local issuer certificate'
dies 'a wrong password' "https://seckill:hush-hush@$secured?$own_certificate" 'authentication failed, invalid user ID or password'
readyz() { curl -s --max-time 5 "http://127.0.0.1:${ports[6]}/readyz"; }
is_ready() { curl -sf --max-time 5 "http://127.0.0.1:${ports[6]}/readyz"; }
service "$user" &
own "$!"
starts() { soon is_ready; }
check 'the service starts with a user whose rights are those to lock:' starts
password_changes() {
    printf 'other' | as_root user passwd seckill --interactive=false &&
        soon says 'authentication failed, invalid user ID or password' readyz
}
check 'a password that was changed is named on /readyz' password_changes
printf 's%%ch@loss' | as_root user passwd seckill --interactive=false >>log-ctl

forgets_tokens() {
    local program
    "$pairs" etcd 8 1 6000 own "$user" &
    program=$!
    own "$program"
    send KILL "$served"
    wait "$served"
    serve_tls "${ports[4]}" server "${with_users[@]}"
    wait "$program"
    [ "$?" -le 1 ] && "$pairs" etcd 8 1 300 one "$user"
}
check 'an etcd that was restarted knows no token, and gives a new one' forgets_tokens
done_testing
