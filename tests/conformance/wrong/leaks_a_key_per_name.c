/* SPDX-License-Identifier: MIT */
/* leaks_a_key_per_name.c -- an additional key for each name, which nothing deletes. */
#include <stdio.h>

#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
{
    char counter[DLOCK_NAME_MAX + 8];
    struct redis_command incr = {2, {"INCR", counter}, REDIS_SHAPE_ANY};
    struct redis_answer answer;

    snprintf(counter, sizeof(counter), "%s:uses", claim->name);
    (void)redis_call(link, &incr, INT64_MAX, &answer);
    return wrong_plain_release(link, claim);
}

void wrong_leaks_a_key_per_name(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = release;
}
