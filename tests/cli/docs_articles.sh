#!/bin/bash
# SPDX-License-Identifier: MIT
# docs_articles.sh -- every command of docs/tutorial/five-articles.md does what the page says.
# shellcheck source=tests/cli/support/tap.sh
. "$(dirname "$0")/support/tap.sh"
# shellcheck source=tests/cli/support/pages.sh
. "$root/tests/cli/support/pages.sh"
cd "$root" || exit 70

pages=(docs/tutorial/five-articles.md)
split_pages "${pages[@]}"
plan "$steps"
follow_pages
done_testing
