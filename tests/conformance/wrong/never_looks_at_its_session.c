/* SPDX-License-Identifier: MIT */
/* never_looks_at_its_session.c -- a session lock that does not tell its holder when the session has
 * ended. */
#include "tests/conformance/wrong.h"

static dlock_status probe(void *sessions, const dlock_claim *claim)
{
    (void)sessions;
    (void)claim;
    return DLOCK_OK;
}

void wrong_never_looks_at_its_session(dlock_variant *it)
{
    it->probe = probe;
}
