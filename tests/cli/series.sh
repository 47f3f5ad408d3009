#!/bin/bash
# SPDX-License-Identifier: MIT
# series.sh -- the progress of `seckill bench`, `seckill scenario` and `seckill matrix`: on a
# terminal, in a log, and for programs.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/watched.sh
. "$root/tests/cli/support/watched.sh"
unset NO_COLOR
plan 27
watch_by series.py
done_testing
