#!/bin/bash
# SPDX-License-Identifier: MIT
# topology_tls.sh -- locks over TLS: with one Redis, through a Sentinel and in a Redis Cluster; and the message for
# each wrong certificate, port and file.
#
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/../cli/support/tap.sh"
plan 34
pairs=$root/${1:-build/tests/address_pairs} # or the argument, from a sanitizer's build

# The authority, and certificates NAME.pem with NAME.key.
cd "$work" || exit 1
new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${new_key[@]}" -keyout ca.key -out ca.pem -days 2 -subj '/CN=authority' 2>/dev/null
certify() { # NAME NAMES DAYS
    openssl req "${new_key[@]}" -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$1.pem" -days "$3" \
        -extfile <(echo "subjectAltName=$2") 2>/dev/null
}
certify server DNS:localhost,IP:127.0.0.1 2
certify named DNS:localhost 2
certify elsewhere DNS:elsewhere.example 2
certify expired DNS:localhost,IP:127.0.0.1 0
certify client DNS:client.example 2
openssl ec -in client.key -aes128 -passout pass:secret -out locked.key 2>/dev/null

mapfile -t ports < <("$root/tools/free_ports.py" 12)

# serve NAME PLAIN-PORT TLS-PORT OPTION...: start a Redis with the certificate NAME; port 0 switches a port off.
serve() {
    local name=$1 plain=$2 tls=$3
    shift 3
    mkdir -p "at-$tls"
    redis-server "$@" --bind 127.0.0.1 --port "$plain" --tls-port "$tls" --tls-cert-file "$work/$name.pem" \
        --tls-key-file "$work/$name.key" --tls-ca-cert-file "$work/ca.pem" --dir "$work/at-$tls" >"log-$tls" 2>&1 &
    own $!
    soon answers "$tls"
}
answers() {
    timeout 2 redis-cli -p "$1" --tls --cacert ca.pem --cert client.pem --key client.key --insecure PING 2>&1 |
        grep -q 'PONG'
}
open=(--save '' --tls-auth-clients no)
serve server 0 "${ports[0]}" "${open[@]}"
serve elsewhere 0 "${ports[1]}" "${open[@]}"
serve expired 0 "${ports[2]}" "${open[@]}"
serve server "${ports[3]}" "${ports[4]}" --save ''
printf 'sentinel monitor shop 127.0.0.1 %s 1\nsentinel down-after-milliseconds shop 2000\ntls-replication yes\ntls-auth-clients no\n' "${ports[0]}" >sentinel.conf
serve server 0 "${ports[5]}" sentinel.conf --sentinel
serve server 0 "${ports[6]}" "${open[@]}" --cluster-enabled yes --tls-cluster yes --cluster-port "${ports[7]}"
serve named 0 "${ports[8]}" "${open[@]}" --cluster-enabled yes --tls-cluster yes --cluster-port "${ports[10]}"
in_cluster() { redis-cli -h localhost -p "$1" --tls --cacert ca.pem CLUSTER INFO | grep -q 'cluster_state:ok'; }
for port in "${ports[6]}" "${ports[8]}"; do
    redis-cli -h localhost -p "$port" --tls --cacert ca.pem CLUSTER ADDSLOTSRANGE 0 16383 >"$work/slots"
    soon in_cluster "$port"
done
# A node that has met others knows its address; this one has met none, so it is told.
redis-cli -h localhost -p "${ports[8]}" --tls --cacert ca.pem CONFIG SET cluster-announce-ip 127.0.0.1 >"$work/slots"

ca=ca=$work/ca.pem
one=rediss://127.0.0.1:${ports[0]}
own_certificate=cert=$work/client.pem\&key=$work/client.key

# ---- locks ----

for variant in reentrant fair watch; do
    check "$variant excludes over TLS" "$pairs" "$variant" 8 1 300 one "$one?$ca"
done
check 'a name of the host in place of its address' "$pairs" reentrant 2 1 100 own "rediss://localhost:${ports[0]}/1?$ca"
check 'a server name that the address is not' "$pairs" reentrant 2 1 100 own \
    "rediss://127.0.0.1:${ports[1]}?server-name=elsewhere.example&$ca"
check 'a certificate of the client' "$pairs" reentrant 2 1 100 own "rediss://127.0.0.1:${ports[4]}?$ca&$own_certificate"
check 'redlock on two servers' "$pairs" redlock 2 1 200 one \
    "$one?$ca,rediss://127.0.0.1:${ports[1]}?$ca&server-name=elsewhere.example"
through_sentinel() { "$@" || { tail -n 20 "log-${ports[5]}" && false; }; }
check 'through a Sentinel' through_sentinel "$pairs" reentrant 4 1 300 one "rediss-sentinel://127.0.0.1:${ports[5]}/shop?$ca"
check 'in a cluster' "$pairs" reentrant 4 1 300 one "rediss-cluster://127.0.0.1:${ports[6]}?$ca"
redis-cli -p "${ports[0]}" --tls --cacert ca.pem SET seat owner >/dev/null
check 'permits over TLS' "$pairs" permit 8 1 300 one "$one?$ca"
check 'permits through a Sentinel' through_sentinel "$pairs" permit 4 1 300 one \
    "rediss-sentinel://127.0.0.1:${ports[5]}/shop?$ca"
check 'permits in a cluster' "$pairs" permit 4 1 300 one \
    "rediss-cluster://127.0.0.1:${ports[6]}?$ca"
check 'a lock of another client is seen' grep -q 'held' <("$seckill" lock show seat --lock=naive --redis-url="$one?$ca")

# ---- what does not fit ----

# refuses WHAT ADDRESS TEXT [STATUS]: the command ends with that status, and prints TEXT in one line.
refuses() {
    local status=0
    timeout 30 "$seckill" lock show seat --redis-url="$2" >out 2>&1 || status=$?
    check "$1" test "$status" = "${4:-69}" -a "$(wc -l <out)" = 1
    check "$1, in words" grep -qF -- "$3" out
}
refuses 'an authority that nobody trusts' "$one" 'self-signed certificate in certificate chain: ca=FILE names the authority'
refuses 'the certificate of another host' "rediss://localhost:${ports[1]}?$ca" 'hostname mismatch: the certificate is not for localhost'
named="rediss-cluster://localhost:${ports[8]}?$ca"
refuses 'the address of a node that has a certificate for its name' "$named" 'IP address mismatch'
redis-cli -h localhost -p "${ports[8]}" --tls --cacert ca.pem CONFIG SET cluster-announce-hostname localhost >"$work/slots"
check 'the certificate fits once the node announces the name' "$pairs" reentrant 4 1 300 one "$named"
refuses 'a certificate that has expired' "rediss://127.0.0.1:${ports[2]}?$ca" 'certificate has expired'
refuses 'a server that wants a certificate' "rediss://127.0.0.1:${ports[4]}?$ca" 'cert=FILE, key=FILE'
refuses 'a port without TLS' "rediss://127.0.0.1:${ports[3]}?$ca" 'is the port one of TLS?'
refuses 'a port of TLS without it' "redis://127.0.0.1:${ports[0]}" 'is its port one of TLS (rediss://)?'
openssl s_server -accept "127.0.0.1:${ports[9]}" -cert server.pem -key server.key -tls1_1 \
    -cipher 'ALL:@SECLEVEL=0' -quiet >/dev/null 2>&1 &
own $!
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
soon listens "${ports[9]}"
refuses 'a server without TLS 1.2' "rediss://127.0.0.1:${ports[9]}?$ca" 'the server speaks no TLS 1.2'
refuses 'a file that is not there' "$one?ca=/nowhere" 'ca=/nowhere cannot be used: No such file or directory'
refuses 'a key with a passphrase' "$one?$ca&cert=$work/client.pem&key=$work/locked.key" 'locked.key cannot be used'
done_testing
