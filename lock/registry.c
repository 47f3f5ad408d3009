/* SPDX-License-Identifier: MIT */
/* registry.c -- the catalogue of variants, made from variants.def alone. */
#include "lock/registry.h"

#include <string.h>

#include "lock/process.h"
#include "lock/store.h"

#define VARIANT(id) extern const dlock_variant dlock_variant_##id;
#include "lock/variants.def"
#undef VARIANT

const dlock_variant *const dlock_variants[] = {
#define VARIANT(id) &dlock_variant_##id,
#include "lock/variants.def"
#undef VARIANT
};

/* The first flaw in the texts of a variant; NULL: none. */
static const char *info_flaw(const dlock_variant_info *info)
{
    if (info->name == NULL || info->name[0] == '\0')
        return "it has no name";
    if (info->name[strspn(info->name, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0')
        return "its name has other characters than a-z, 0-9 and -";
    if (info->store == NULL || info->promises == NULL || info->breaks == NULL ||
        info->source == NULL)
        return "a text of its catalogue row is missing";
    if (dlock_store_of(info) == DLOCK_STORE_COUNT)
        return "stores.def has no row for its store";
    return NULL;
}

enum {
    HANDED_NEEDS = DLOCK_CAP_FAIR | DLOCK_CAP_OWNED | DLOCK_CAP_EXPIRES,
    HANDED_LACKS = DLOCK_CAP_FENCED | DLOCK_CAP_SHARED | DLOCK_CAP_SESSION,
};

enum { LATER_NEEDS = DLOCK_CAP_OWNED | DLOCK_CAP_ATOMIC };

/* The first flaw in the slots for a handover and for a release without waiting; NULL:
 * none. */
static const char *release_flaw(const dlock_variant *variant)
{
    unsigned caps = variant->info.caps;

    if (variant->may_be_handed_over &&
        ((caps & HANDED_NEEDS) != HANDED_NEEDS || (caps & HANDED_LACKS) != 0))
        return "it may be handed over, and is not fair, owned and leased, or has a fence, "
               "readers or a session";
    if (variant->read_release != NULL &&
        ((caps & LATER_NEEDS) != LATER_NEEDS || (caps & DLOCK_CAP_SHARED) ||
         variant->check == NULL))
        return "it has read_release, and is not owned and leased in one step, or has readers, "
               "or lacks check";
    if ((variant->read_release == NULL) != (variant->send_queued == NULL))
        return "it has only one of read_release and send_queued";
    return NULL;
}

const char *dlock_variant_flaw(const dlock_variant *variant)
{
    unsigned caps = variant->info.caps;
    const char *flaw = info_flaw(&variant->info);

    if (flaw != NULL)
        return flaw;
    if (variant->try_acquire == NULL)
        return "it has no try_acquire";
    if (variant->release == NULL)
        return "it has no release";
    if ((variant->open == NULL) != (variant->close == NULL))
        return "it has only one of open and close";
    if ((variant->renew == NULL) != !(caps & DLOCK_CAP_RENEW))
        return "renew and DLOCK_CAP_RENEW disagree";
    if ((variant->drift_per_mille > 0) != !!(caps & DLOCK_CAP_EXPIRES))
        return "drift_per_mille and DLOCK_CAP_EXPIRES disagree";
    if ((caps & DLOCK_CAP_RENEW) && !(caps & DLOCK_CAP_EXPIRES))
        return "it renews what never expires";
    if ((caps & DLOCK_CAP_ATOMIC) && !(caps & DLOCK_CAP_EXPIRES))
        return "it leases in one step what never expires";
    if (variant->lease_limit_ms != 0 &&
        (!(caps & DLOCK_CAP_EXPIRES) || variant->lease_limit_ms < DLOCK_LEASE_MIN_MS))
        return "its lease_limit_ms limits nothing, or is below the least lease";
    if (variant->poll_max_ms < 0 ||
        (variant->poll_max_ms > 0 && (caps & DLOCK_CAP_PUSH)))
        return "poll_max_ms is negative, or its waiters do not poll";
    if ((variant->probe == NULL) != !(caps & DLOCK_CAP_SESSION))
        return "probe and DLOCK_CAP_SESSION disagree";
    if ((caps & DLOCK_CAP_SESSION) && (caps & DLOCK_CAP_EXPIRES))
        return "it ends with its session and with a lease";
    if (variant->watched && variant->renew == NULL)
        return "it is watched and cannot renew";
    if (variant->blind_release && (caps & DLOCK_CAP_OWNED))
        return "it releases anyone's lock and claims DLOCK_CAP_OWNED";
    if ((variant->watch == NULL) != !(caps & DLOCK_CAP_PUSH) ||
        (variant->sleep == NULL) != !(caps & DLOCK_CAP_PUSH) ||
        (variant->unwatch == NULL) != !(caps & DLOCK_CAP_PUSH))
        return "watch, sleep, unwatch and DLOCK_CAP_PUSH disagree";
    if ((variant->leave == NULL) != !(caps & DLOCK_CAP_FAIR))
        return "leave and DLOCK_CAP_FAIR disagree";
    if ((caps & DLOCK_CAP_LOCAL) &&
        (variant->inspect == NULL || variant->force == NULL))
        return "it claims DLOCK_CAP_LOCAL, and lacks inspect or force";
    if ((caps & DLOCK_CAP_SHARED) && !(caps & DLOCK_CAP_REENTRANT))
        return "it knows readers, and not which levels are theirs";
    if ((caps & DLOCK_CAP_EXCLUSIVE) && !(caps & DLOCK_CAP_LOCAL))
        return "it excludes processes but not threads";
    return release_flaw(variant);
}

size_t dlock_variant_count(void)
{
    return sizeof(dlock_variants) / sizeof(dlock_variants[0]);
}

/* The variant at `index`, or the variant that a test has put in its place. */
static const dlock_variant *variant_at(size_t index)
{
    const dlock_variant *variant = dlock_variants[index];
    const dlock_variant *stand_in = dlock_process_here()->stand_in;

    if (stand_in != NULL && strcmp(stand_in->info.name, variant->info.name) == 0)
        return stand_in;
    return variant;
}

void dlock_registry_replace(const dlock_variant *variant)
{
    dlock_process_here()->stand_in = variant;
}

const dlock_variant *dlock_registry_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < dlock_variant_count(); i++)
        if (strcmp(dlock_variants[i]->info.name, name) == 0)
            return variant_at(i);
    return NULL;
}

const dlock_variant_info *dlock_variant_at(size_t index)
{
    return index < dlock_variant_count() ? &variant_at(index)->info : NULL;
}

const dlock_variant_info *dlock_variant_find(const char *name)
{
    const dlock_variant *variant = dlock_registry_find(name);

    return variant != NULL ? &variant->info : NULL;
}
