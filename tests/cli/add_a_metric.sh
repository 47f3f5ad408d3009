#!/bin/bash
# SPDX-License-Identifier: MIT
# add_a_metric.sh -- docs/how-to/add-a-metric.md, followed word for word in a copy of the tree.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/page.sh
. "$root/tests/cli/support/page.sh"
page=$root/docs/how-to/add-a-metric.md

plan "$(page_checks "$page")"
follow_page "$page"
done_testing
