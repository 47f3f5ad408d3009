/* SPDX-License-Identifier: MIT */
/* slots.h -- calls the functions of a variant without the library's core.
 *
 * Some duties of a variant cannot be tested through the core, because the core never sends a claim
 * twice and does not show when a waiter makes its attempts. With these functions a law takes the
 * place of the core. */
#ifndef CONFORMANCE_SLOTS_H
#define CONFORMANCE_SLOTS_H

#include "lock/dlock_variant.h"

struct slots {
    const dlock_variant *variant;
    void *state;
    char uuid[37];
};

/* A claim of a new owner, and the texts to which the claim points. */
struct slot_claim {
    dlock_claim claim;
    char name[DLOCK_NAME_MAX + 1];
    char number[21];
    char owner[DLOCK_OWNER_MAX + 1];
    char token[DLOCK_TOKEN_LEN + 1];
};

/* Open the state of the variant, or fail the law. The state is closed after the law. */
const struct slots *slots_open(const dlock_options *opts);
void slots_close(void);

/* A claim on `name`, level 1, with the lease of the options that were opened.  The
 * claim may not be copied: use slots_again(). */
void slots_claim(const struct slots *slots, struct slot_claim *out, const char *name);

/* Return the same claim as a network would deliver it again: without the values that the first
 * execution wrote into it. */
dlock_claim slots_again(const struct slot_claim *of);

dlock_status slots_try(const struct slots *slots, struct slot_claim *claim);
dlock_status slots_release(const struct slots *slots, const struct slot_claim *claim);

#endif /* CONFORMANCE_SLOTS_H */
