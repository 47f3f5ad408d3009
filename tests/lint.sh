#!/bin/bash
# SPDX-License-Identifier: MIT
# lint.sh -- checks that run no program of the project, as TAP.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 70
number=0 status=0

check() {
    local name=$1 out
    shift
    number=$((number + 1))
    if out=$("$@" 2>&1); then
        echo "ok $number - $name"
    else
        printf '%s\n' "$out" | sed 's/^/# /'
        echo "not ok $number - $name"
        status=1
    fi
}

mapfile -t scripts < <(git ls-files -co --exclude-standard -- '*.sh' tests/run tests/build tests/fuzz/run tests/interop/run tests/mutants/run tests/compose/run .ci/run)
check 'every include keeps to its layer, every variant, guard and check is listed' tools/check-layers.sh
check 'no name of a store, lock, guard or hazard is compared outside a parser' tools/check-names.sh
check 'no directory, function, line or number of shared names is over its limit' tools/size.py check
check 'every room has a README of at most 20 lines, and the files that it names' tools/check-rooms.sh
check 'every setting of the service is a variable of docker-compose.yml' tools/check-containers.sh
check 'the shell scripts are clean' shellcheck -x "${scripts[@]}"
check 'every mutant still applies, and says what it breaks and which tests kill it' tests/mutants/run --check
check 'every mutant is hunted by the simulation, or says why it is not' tests/simulation/not_hunted.sh
check 'clang builds everything without a warning' make -s clang
check 'no two files use each other' bash -c 'make -s all && tools/check-circles.sh'
check 'the programs and the library are hardened' bash -c 'make -s all && tools/check-hardening.sh'
check 'the library shows what its headers declare, and no more' tools/check-symbols.sh
check 'every test that SECURITY.md names exists' tools/check-security.sh
check 'the documents are not stale, and their links, names and commands hold' tools/check-docs.sh
echo "1..$number"
exit $status
