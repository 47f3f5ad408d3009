#!/bin/bash
# SPDX-License-Identifier: MIT
# audit.sh -- `seckill audit` on hand-made runs: verdicts and exit statuses.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
plan 45

voucher() { # ID ISSUED LEFT: print an entry of stock.json
    printf '{"voucher": %s, "issued": %s, "left": %s, "fence": 0, "issued_us": 1, "begin_us": 1, "end_us": 9, "moved": 0, "read_us": 0}' "$@"
}
stock() { echo "[$(voucher 9 "$1" "$2")]" >"$dir/stock.json"; }
# make_run NAME ISSUED LEFT: make a run without orders; then call order and told.
make_run() {
    dir=$work/$1
    mkdir -p "$dir"
    printf '{"vouchers": [9], "settled": true}\n' >"$dir/run.json"
    stock "$2" "$3"
    : >"$dir/orders.tsv"
    : >"$dir/ledger-1.tsv"
    count=0
}
there() { printf '%d\t%d\t9\tr-%d\tnone\tread-write\tnone\tp1\tnow\t2\t2\n' "$1" "$2" "$1" >>"$dir/orders.tsv"; }
told() {
    printf 'accepted\tr-%d\t%d\t%d\t9\n' "$1" "$1" "$2" >>"$dir/ledger-1.tsv"
    count=$((count + 1))
}
sold() { there "$1" "$2" && told "$1" "$2"; }
end() { printf 'end\t%d\t%d\t%d\t0\n' "$count" "$count" "$count" >>"$dir/ledger-1.tsv"; }
audit() { "$seckill" audit --from=files --dir="$work/nowhere" "$@"; }

make_run good 2 0 && sold 1 1 && sold 2 2 && end
check 'a good run exits with 0' status 0 audit "$dir"
check 'and says where the orders were read' says 'from orders.tsv' audit "$dir"
check 'and says so in JSON' says '"valid": true' audit --json "$dir"

make_run oversold 1 0 && sold 1 1 && sold 2 2 && end
check 'an oversold run exits with 1' status 1 audit "$dir"
check 'and shows an example' says 'voucher 9: stock 1, orders 2' audit "$dir"

make_run twice 5 3 && sold 1 7 && sold 2 7 && end
check 'a run with a duplicate fails' status 1 audit "$dir"

make_run phantom 5 4 && sold 1 1 && told 2 2 && end
check 'and one with a phantom' status 1 audit "$dir"

make_run torn 5 4 && sold 1 1 && there 2 2
stock 5 3
check 'a torn ledger makes it unknown: 2' status 2 audit "$dir"

make_run uncounted 5 4 && sold 1 1 && printf 'end\t2\t1\t1\t0\n' >>"$dir/ledger-1.tsv"
check 'a request with neither an answer nor a line makes it unknown: 2' status 2 audit "$dir"

make_run nothing 5 5 && end
check 'a run that sold nothing is unknown: 2' status 2 audit "$dir"

make_run behind 5 4 && sold 1 1 && end && told 1 1
check 'a line behind the end of a ledger: 64, with its number' status 64 audit "$dir"
check 'and says what to do' says 'ledger-1.tsv:3: .*did two runs write into one directory' audit "$dir"
make_run zero 5 4 && sold 1 1 && printf 'accepted\tr-2\t2\t2\t9\000\n' >>"$dir/ledger-1.tsv"
check 'a zero byte: 64, with its line' says 'ledger-1.tsv:2: .*zero byte' audit "$dir"
make_run odd 5 4 && sold 1 1 && end && printf '2\tx\t9\tr-2\tnone\tread-write\tnone\tp1\tnow\t2\t2\n' >>"$dir/orders.tsv"
check 'an order that is none: 64, with its line' says 'orders.tsv:2: this is no order' audit "$dir"
make_run escape 5 4 && sold 1 1 && end && sed -i 's/\tr-1\t/\t\x1b[31m\t/' "$dir/orders.tsv"
check 'nor is one with a control character' says 'orders.tsv:1: this is no order' audit "$dir"
make_run turned 5 4 && sold 1 1 && end && sed -i 's/\tr-1\t/\t\xe2\x80\xaer\t/' "$dir/orders.tsv"
check 'or with one that turns the text' says 'orders.tsv:1: this is no order' audit "$dir"
make_run stock 5 4 && sold 1 1 && end && stock '"5"' 4
check 'stock that is no number: 64, with its entry' says 'stock.json: entry 0 is no voucher' audit "$dir"

make_run repeated 5 4 && sold 1 1 && end
echo "[$(voucher 9 5 4), $(voucher 9 5 4)]" >"$dir/stock.json"
check 'a voucher with two entries: 64, with its number' \
    says 'stock.json: entry 1 names voucher 9 a second time' status 64 audit "$dir"
make_run partly 5 4 && sold 1 1 && end && printf '{"vouchers": [9, 10], "settled": true}\n' >"$dir/run.json"
check 'a voucher of run.json that is not in stock.json: 64, with its number' \
    says 'partly/stock.json has not voucher 10, which run.json names' status 64 audit "$dir"
make_run more 5 4 && sold 1 1 && end
echo "[$(voucher 9 5 4), $(voucher 10 5 5)]" >"$dir/stock.json"
check 'a voucher that run.json does not name is judged too: 0' says 'issued +10' status 0 audit "$dir"

make_run fifo 5 4 && sold 1 1 && end && mkfifo "$dir/ledger-2.tsv"
check 'a ledger that is a FIFO: 64, at once' \
    says 'cannot read .*/ledger-2.tsv: it is no regular file' status 64 timeout 60 "$seckill" audit --from=files --dir="$work/nowhere" "$dir"
make_run fifos 5 4 && sold 1 1 && end && rm "$dir/stock.json" && mkfifo "$dir/stock.json"
check 'and stock that is one' says 'cannot read .*/stock.json: it is no regular file' status 64 timeout 60 "$seckill" audit --from=files --dir="$work/nowhere" "$dir"
make_run large 5 4 && sold 1 1 && end && truncate -s 2G "$dir/ledger-2.tsv"
check 'a ledger larger than any: 64' \
    says 'ledger-2.tsv: it is larger than any file of its kind' status 64 audit "$dir"
rm "$dir/ledger-2.tsv" && truncate -s 65M "$dir/stock.json"
check 'and stock that is' says 'stock.json: it is larger than any' status 64 audit "$dir"
# Two ledgers, each with one order.  Without the second, the second order is one that nobody was told of.
make_pair() {
    make_run "$1" 5 3 && sold 1 1 && end
    there 2 2
    printf 'accepted\tr-2\t2\t2\t9\nend\t1\t1\t1\t0\n' >"$dir/ledger-2.tsv"
    printf '{"vouchers": [9], "settled": true, %s}\n' "$2" >"$dir/run.json"
}
make_pair two '"ledgers": ["ledger-1.tsv", "ledger-2.tsv"]'
check 'two ledgers are valid: 0' status 0 audit "$dir"
rm "$dir/ledger-2.tsv"
check 'without one of them the verdict is unknown: 2' status 2 audit "$dir"
check 'and names the ledger' \
    says 'ledger-2.tsv is missing: run.json says 2 ledgers, 1 file was found' audit "$dir"
check 'in JSON too' says '"ledger-2.tsv is missing' audit --json "$dir"
make_pair foreign '"ledgers": ["ledger-1.tsv"]'
check 'a ledger beyond those of run.json is read: 0' status 0 audit "$dir"
make_pair odd-list '"ledgers": [7, "x", "ledger-\u001b.tsv"]'
check 'a list of other things names no ledger: 0' status 0 audit "$dir"

# The path of a run is no pattern, although the runs good-1 and good* lie beside each other.
make_run good-1 2 1 && sold 1 1 && end
make_run 'good*' 2 1 && there 1 1 && rm "$dir/ledger-1.tsv"
check 'a run without ledgers takes none of the run beside it: 2' status 2 audit "$dir"
make_run 'o[1]' 2 1 && sold 1 1 && end
check 'a run whose path looks like a pattern is valid: 0' status 0 audit "$dir"

make_run damaged 5 4 && sold 1 1 && end && printf '{"vouchers": [9' >"$dir/run.json"
check 'a damaged run.json: 64, with its reason' says 'run.json' status 64 audit "$dir"
is_the_only_reason() { ! says 'names no vouchers' audit "$dir"; }
check 'and no other reason' is_the_only_reason

# A run that was made with wrk by hand has neither run.json nor the files of its orders.
make_run by-hand 5 4 && rm "$dir/run.json" "$dir/stock.json" "$dir/orders.tsv" && end
check 'ledgers without an answer about a voucher: 64' says 'no line of the ledgers in .*by-hand names a voucher' status 64 audit "$dir"
told 1 1
printf 'sold-out\tr-%d\t-\t1\t%d\n' {1..65}{,} >"$dir/ledger-1.tsv"
check 'ledgers with too many vouchers: 64' says 'name more than 64 vouchers' status 64 audit "$dir"
: >"$dir/ledger-1.tsv" && told 1 1 && end
check 'without a lab and without files: 69, with both reasons' \
    says 'by-hand has no stock.json, and its database cannot be read: no lab is up in .*nowhere' \
    status 69 "$seckill" audit --dir="$work/nowhere" "$dir"

mkdir "$work/runs" && ln -s "$work/good" "$work/runs/latest"
check 'a directory of runs is no run: 64' says 'no run in .*/runs, which has neither run.json nor a ledger' status 64 audit "$work/runs"
check 'and the last run in it is named' says '^  name the directory of one run, such as .*/runs/latest$' audit "$work/runs"
check 'a named voucher makes no run of it: 64' says 'no run in ' status 64 audit --voucher=9 "$work/runs"
check 'nor is / a run: 64' says '^  name .* such as runs/latest$' status 64 audit /
check 'a file is no run: 64' says "$work/good/run.json is not the directory of a run" \
    status 64 audit "$work/good/run.json"
check 'nor is something below a file: 64' says 'is not the directory of a run' \
    status 64 audit "$work/good/run.json/x"
check 'no such run: 64' status 64 audit "$work/none"
check 'a live audit without a lab: 69' status 69 "$seckill" audit --from=database \
    --dir="$work/nowhere" "$work/good"
done_testing
