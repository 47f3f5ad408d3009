/* SPDX-License-Identifier: MIT */
/* checks_then_deletes.c -- the release of `owner`, whose check and delete are two commands, in a
 * lock that promises one step. */
#include <string.h>

#include "lock/fault.h"
#include "tests/conformance/wrong.h"

static dlock_status release(void *link, const dlock_claim *claim)
{
    struct redis_answer found;
    dlock_status st = redis_get(link, claim->name, REDIS_SHAPE_TEXT, &found);

    if (st != DLOCK_OK)
        return st;
    if (strcmp(found.text, claim->token) != 0)
        return DLOCK_LOST;
    DLOCK_FAULT(BETWEEN_CHECK_AND_DELETE, claim->name);
    return redis_delete(link, claim->name);
}

void wrong_checks_then_deletes(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = release;
}
