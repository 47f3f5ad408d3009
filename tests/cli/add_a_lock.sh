#!/bin/bash
# SPDX-License-Identifier: MIT
# add_a_lock.sh -- docs/how-to/add-a-lock.md, followed word for word in a copy of the tree.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/page.sh
. "$root/tests/cli/support/page.sh"
page=$root/docs/how-to/add-a-lock.md

plan $(($(page_checks "$page") + 4))
follow_page "$page"
summaries=("$copy"/runs/2*/summary.md)
check 'without an expectation the cell says so' grep -q 'no expectation' "${summaries[0]}"
check 'without an expectation the summary says so' grep -q '"no_expectation": 1' "${summaries[0]%.md}.json"
# shellcheck disable=SC2016  # Markdown's quotes
check 'the new lock is a row of the table' grep -Eq '^\| `px` \| sound.*over' "${summaries[-1]}"
check 'the copy has the lock, the clone has not' status 1 grep -q px "$root/lock/variants.def"
done_testing
