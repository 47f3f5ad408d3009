/* SPDX-License-Identifier: MIT */
/* rig_expect.c -- comparing an answer of the service with the expected one. */
#include <string.h>

#include "tests/service/rig.h"

void rig_expect(const struct rig_answer *answer, int status, const char *outcome)
{
    if (answer->status != status || strcmp(answer->outcome, outcome) != 0)
        fail_msg("%d %s instead of %d %s: %s", answer->status, answer->outcome, status,
                 outcome, answer->body);
}

static void expect_in(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL)
        fail_msg("no %s in %s", piece, text);
}

void rig_expect_in_body(const struct rig_answer *answer, const char *piece)
{
    expect_in(answer->body, piece);
}

void rig_expect_in_head(const struct rig_answer *answer, const char *piece)
{
    expect_in(answer->head, piece);
}
