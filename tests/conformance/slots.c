/* SPDX-License-Identifier: MIT */
/* slots.c -- a variant's own slots, called without the core. */
#include "tests/conformance/slots.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lock/registry.h"
#include "lock/token.h"
#include "tests/conformance/rig.h"

enum { OPEN_MAX_STATES = 4 };

static struct slots opened[OPEN_MAX_STATES];
static size_t opened_count;
static int lease_ms;

const struct slots *slots_open(const dlock_options *opts)
{
    struct slots *slots = &opened[opened_count];

    assert_true(opened_count < OPEN_MAX_STATES);
    slots->variant = dlock_registry_find(opts->variant);
    slots->state = NULL;
    snprintf(slots->uuid, sizeof(slots->uuid), "%08x-0000-8000-8000-%012zx",
             (unsigned)getpid(), opened_count);
    if (slots->variant->open != NULL)
        assert_status(OK, slots->variant->open(opts, &slots->state));
    lease_ms = opts->lease_ms;
    opened_count++;
    return slots;
}

void slots_close(void)
{
    while (opened_count > 0) {
        struct slots *slots = &opened[--opened_count];

        if (slots->state != NULL)
            slots->variant->close(slots->state);
    }
}

void slots_claim(const struct slots *slots, struct slot_claim *out, const char *name)
{
    static unsigned last_number = 1000000; /* above the numbers of the core, which begin with 1 */

    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "%s", name);
    snprintf(out->number, sizeof(out->number), "%u", ++last_number);
    snprintf(out->owner, sizeof(out->owner), "%s:%s", slots->uuid, out->number);
    dlock_token_make(out->token);
    out->claim = (dlock_claim){
        .name = out->name,
        .uuid = slots->uuid,
        .number = out->number,
        .owner = out->owner,
        .token = out->token,
        .lease_ms = lease_ms,
        .level = 1,
        .give_up_ns = INT64_MAX,
        .free_in_ms = -1,
    };
}

dlock_claim slots_again(const struct slot_claim *of)
{
    dlock_claim again = of->claim;

    again.fence = again.note = 0;
    again.free_in_ms = -1;
    return again;
}

dlock_status slots_try(const struct slots *slots, struct slot_claim *claim)
{
    return slots->variant->try_acquire(slots->state, &claim->claim);
}

dlock_status slots_release(const struct slots *slots, const struct slot_claim *claim)
{
    return slots->variant->release(slots->state, &claim->claim);
}
