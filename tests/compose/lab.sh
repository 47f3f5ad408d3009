# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154  # root and work are tap.sh's, shop is shop.sh's
# lab.sh -- the checks of the laboratory's container.  tests/compose/run sources it.

LAB_PORT=$("$root/tools/free_ports.py" 1)
export LAB_PORT LAB_USER=4321:4321 # who has no name in the image
page=http://127.0.0.1:$LAB_PORT mounted=$shop/docker/lab
lab() { compose run --rm -T lab "$@"; }

check 'the image of the laboratory is built' compose --profile lab build lab
check 'a user who does not own the mounted directory is told so' says 'LAB_USER' status 73 lab locks
chown "$LAB_USER" "$mounted"
began=$(now)
performed() { documented 'The laboratory' >"$work/said" 2>&1 || { cat "$work/said"; return 1; }; }
check 'the commands of the page succeed' performed
echo "the commands of the laboratory: $(since "$began") s" >>"$work/times"
check 'demo prints the table of make demo' says '56 of 56' cat "$work/said"
check 'wrk orders, and the audit finds every order' says '^VALID: issued 1000' cat "$work/said"
written() {
    grep -q wrong-delete "$mounted/wrong-delete.html" &&
        [ "$(stat -c %u:%g "$mounted"/{wrong-delete.html,runs/latest/} | uniq)" = "$LAB_USER" ]
}
check 'runs and the story are in the mounted directory, and its owner has them' written
own_script() {
    printf 'wrk.method = "POST"\nwrk.path = "/voucher-order/seckill/1"\n' >"$mounted/mine.lua"
    says '^ +Non-2xx' lab wrk -s mine.lua -d1s && set -- "$mounted"/runs/wrk-* && [ $# -eq 1 ]
}
check 'wrk takes a script of its own, and leaves no empty ledger' own_script
check 'the locks in ZooKeeper and etcd are there too' says '2 of 2' \
    lab compare --locks=zk-seq,etcd --hazards=calm --experiments=oversell --repeats=1

# shellcheck disable=SC2086  # perhaps two words
(cd "$shop" && exec $COMPOSE run --rm --service-ports -T lab) >"$work/page" 2>&1 &
server=$!
pids+=("$server")
# asks WANTED PATH CURL-FLAGS...: does the page answer with that status?
asks() { [ "$(curl -s -o "$work/answer" -w '%{http_code}' "$page$2" "${@:3}")" = "$1" ]; }
is_printed() { token=$(sed -n "s,^open *$page/#token=,,p" "$work/page") && [ -n "$token" ]; }
sells() { asks 200 /api/state --oauth2-bearer "$token" && jq -e '.stock.sold > 0' "$work/answer"; }
serves() {
    cat "$work/page"
    soon is_printed && asks 200 / && asks 401 /api/state && asks 421 / -H 'Host: example.com' &&
        asks 202 /api/run --oauth2-bearer "$token" -d '{}' && soon sells
}
check 'lab serves the live page on loopback to who has the token, and sells on it' serves
ends() { kill -TERM "$server" && soon gone "$server" && soon closed "$LAB_PORT"; }
check 'and ends when it is told to' ends
