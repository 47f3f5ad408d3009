#!/bin/bash
# SPDX-License-Identifier: MIT
# crosscheck.sh -- a few hundred histories of a seed: `seckill check` and the second judge
# agree; and a judge that ignores a property is found.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1

crosscheck() { "$root/tests/crosscheck/crosscheck.py" --out="$work/found" "$@"; }

# smallest PROPERTY CALLS: is one of the files of $work/found about this property, with at most
# CALLS calls?
smallest() {
    local file
    for file in "$work"/found/*; do
        grep -q "^# $1: the first judge says invalid, the second valid" "$file" || continue
        [ "$(grep -c ' p[0-9]* t[0-9]* ' "$file")" -gt "$2" ] || return 0
        cat "$file"
    done
    return 1
}

# A fake judge in place of seckill that never finds a broken fence.
cat >"$work/blind" <<END
#!/bin/bash
"$seckill" "\$@" | sed '/"property": "fence"/,/"claimed"/s/"verdict": "invalid"/"verdict": "valid"/'
END
chmod +x "$work/blind"

plan 9
check 'the judges agree on 200 histories' \
    says '200 histories of seed 13 .* 0 disagree' crosscheck --histories=200 --seed=13
check 'that is 0' status 0 crosscheck --histories=20 --seed=13
check 'a judge that knows nothing of ownership is found out: 1' \
    status 1 crosscheck --histories=150 --seed=13 --ignore=ownership --show=4
check 'in a history of at most four calls' smallest ownership 4
rm -r "$work/found"
check 'a first judge that is blind to fences is found out too: 1' \
    status 1 crosscheck --histories=150 --seed=13 --seckill="$work/blind" --show=3
check 'by its property' grep -q '^# fence: the first judge says valid, the second invalid' -r "$work/found"
check 'the same seed makes the same histories' \
    diff <(crosscheck --seed=13 --print=3) <(crosscheck --seed=13 --print=3)
check 'no seckill: 69' status 69 crosscheck --seckill="$work/none"
check 'a number that is none: 64' status 64 crosscheck --histories=some
done_testing
