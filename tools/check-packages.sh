#!/bin/bash
# SPDX-License-Identifier: MIT
# check-packages.sh -- docker/Dockerfile builds with the packages that tools/deps.sh lists
# for a compilation, and the image that runs has the libraries that those are for.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
status=0

# stage N: what the Nth stage of the Dockerfile installs, sorted, one on a line.
stage() {
    awk -v wanted="$1" '
        /^FROM/ { stage++ }
        stage != wanted { next }
        /apt-get install/ { installs = 1; sub(/.*apt-get install/, "") }
        installs {
            stops = !/\\$/ || /&&/
            sub(/&&.*/, "")
            for (i = 1; i <= NF; i++)
                if ($i !~ /^(-.*|\\)$/) print $i
            if (stops) installs = 0
        }' docker/Dockerfile | sort
}

# differ WHAT WANTED FOUND
differ() {
    local out
    out=$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3") | sed -n \
        -e 's/^< /  missing in docker\/Dockerfile: /p' \
        -e 's/^> /  only in docker\/Dockerfile: /p' || true)
    [ -z "$out" ] || {
        printf '%s:\n%s\n' "$1" "$out"
        status=1
    }
}

build=$(tools/deps.sh --list build | sort)
if [ -z "$build" ] || [ -z "$(stage 1)" ]; then
    echo 'no packages found in tools/deps.sh or docker/Dockerfile'
    exit 1
fi
differ 'packages of the group build' "$build" "$(stage 1)"

# The library that a -dev package is for is the one that it depends on in its own version.
# libinireader0 is the C++ side of libinih1.
# shellcheck disable=SC2016  # dpkg-query expands it
libraries=$(grep -e '-dev$' <<<"$build" | grep -v -e '^libc6-dev$' -e '^uthash-dev$' |
    xargs dpkg-query -W -f='${Depends}\n' | tr ',' '\n' |
    sed -n 's/^ *\(lib[a-z0-9.+-]*[0-9][a-z0-9.]*\) (= .*/\1/p' | grep -v '^libinireader0$' | sort -u)
differ 'libraries of the image that runs' "$libraries" "$(stage 2 | grep '^lib')"
exit $status
