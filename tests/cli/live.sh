#!/bin/bash
# SPDX-License-Identifier: MIT
# live.sh -- the progress of `seckill load` and `seckill compare`: on a terminal, in a log, and for
# programs.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/watched.sh
. "$root/tests/cli/support/watched.sh"
unset NO_COLOR
plan 30
watch_by live.py
done_testing
