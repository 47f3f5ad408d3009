#!/bin/bash
# SPDX-License-Identifier: MIT
# docs_tutorials.sh -- every command of the tutorials does what its page says. docs_articles.sh
# executes the tutorial of the articles, which takes as long as all others.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/pages.sh
. "$root/tests/cli/support/pages.sh"
cd "$root" || exit 70

mapfile -t pages < <(tools/pages.py runnable | grep ^docs/tutorial/ | grep -v five-articles)
split_pages "${pages[@]}"
plan "$steps"
follow_pages
done_testing
