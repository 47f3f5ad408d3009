/* SPDX-License-Identifier: MIT */
/* options.c -- the options of a system: defaults, checks, a copy to keep. */
#include "lock/options.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/process.h"
#include "lock/registry.h"
#include "lock/retry.h"
#include "lock/sized.h"
#include "lock/store.h"

enum {
    DEFAULT_LEASE_MS = 30000,
    DEFAULT_REDIS_TIMEOUT_MS = 2000,
    DEFAULT_NODE_TIMEOUT_MS = 50,
    DEFAULT_DATABASE_TIMEOUT_MS = 2000,
    DEFAULT_ZOOKEEPER_TIMEOUT_MS = 2000,
    DEFAULT_ETCD_TIMEOUT_MS = 2000,
    NAMES_SIZE = 256,
};

/* All fields but `size`; the fields that are texts have their own list. */
#define TEXTS(X)                                                                       \
    X(variant)                                                                         \
    X(redis_url)                                                                       \
    X(redlock_urls)                                                                    \
    X(record_dir)                                                                      \
    X(database_url)                                                                    \
    X(zookeeper_url)                                                                   \
    X(retry)                                                                           \
    X(database_pooler)                                                                 \
    X(etcd_url)
#define VALUES(X)                                                                      \
    X(lease_ms)                                                                        \
    X(watchdog)                                                                        \
    X(redlock_sequential)                                                              \
    X(redis_timeout_ms)                                                                \
    X(redlock_node_timeout_ms)                                                         \
    X(database_timeout_ms)                                                             \
    X(zookeeper_timeout_ms)                                                            \
    X(on_lost)                                                                         \
    X(on_lost_arg)                                                                     \
    X(handover)                                                                        \
    X(etcd_timeout_ms)                                                                 \
    X(replicas_acknowledge)

/* The offset at which a field ends.  The struct of an older program has the field if the
 * struct is at least so long. */
#define END_OF(field)                                                                  \
    (offsetof(dlock_options, field) + sizeof(((dlock_options *)0)->field))

/* A new field in former padding would be read although an older program never wrote it. */
_Static_assert(END_OF(replicas_acknowledge) == sizeof(dlock_options), "no padding at the end");

static const dlock_options DEFAULTS = {
    .size = sizeof(dlock_options),
    .variant = "reentrant",
    .lease_ms = DEFAULT_LEASE_MS,
    .watchdog = true,
    .redis_timeout_ms = DEFAULT_REDIS_TIMEOUT_MS,
    .redlock_node_timeout_ms = DEFAULT_NODE_TIMEOUT_MS,
    .database_timeout_ms = DEFAULT_DATABASE_TIMEOUT_MS,
    .zookeeper_timeout_ms = DEFAULT_ZOOKEEPER_TIMEOUT_MS,
    .etcd_timeout_ms = DEFAULT_ETCD_TIMEOUT_MS,
};

void dlock_options_init(dlock_options *opts, size_t size)
{
    if (opts == NULL)
        return;
    memset(opts, 0, size);
    memcpy(opts, &DEFAULTS, size < sizeof(DEFAULTS) ? size : sizeof(DEFAULTS));
    if (size >= END_OF(size))
        opts->size = size;
}

dlock_status dlock_options_read(dlock_options *to, const dlock_options *from)
{
    if (from == NULL)
        return dlock_fail(DLOCK_INVALID, "no options were given");
    if (from->size < END_OF(variant))
        return dlock_fail(DLOCK_INVALID,
                          "the options say that they are %zu bytes long; begin with "
                          "dlock_options_default()", from->size);
    if (!dlock_is_blank(from, sizeof(*from), from->size))
        return dlock_fail(DLOCK_INVALID,
                          "the options ask for what this library does not know: they are "
                          "%zu bytes long, the library's %zu", from->size,
                          sizeof(*from));
    *to = DEFAULTS;
#define X(field)                                                                       \
    if (END_OF(field) <= from->size)                                                   \
        to->field = from->field;
    TEXTS(X)
    VALUES(X)
#undef X
    return DLOCK_OK;
}

static const dlock_variant *unknown_variant(const char *name)
{
    char names[NAMES_SIZE] = "";
    size_t len = 0;

    for (size_t i = 0; i < dlock_variant_count() && len < sizeof(names); i++)
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
                                i > 0 ? ", " : "", dlock_variant_at(i)->name);
    (void)dlock_fail(DLOCK_INVALID, "there is no variant \"%.40s\"; there are %s",
                     name != NULL ? name : "", names);
    return NULL;
}

static const dlock_variant *find_variant(const char *name)
{
    const dlock_variant *variant = dlock_registry_find(name);

    return variant != NULL ? variant : unknown_variant(name);
}

/* Do the variant and the policy allow the option `handover`?  False: dlock_error() has
 * the reason. */
static bool check_handover(const dlock_options *opts, const dlock_variant *variant,
                           const struct dlock_retry *retry)
{
    if (opts->handover < 0 || opts->handover > DLOCK_HANDOVER_LIMIT)
        (void)dlock_fail(DLOCK_INVALID, "handover has to be from 0 to %d",
                         (int)DLOCK_HANDOVER_LIMIT);
    else if (opts->handover > 0 && !variant->may_be_handed_over)
        (void)dlock_fail(DLOCK_INVALID, "the locks of %s cannot be handed over inside a "
                         "process; those of fair can", variant->info.name);
    else if (opts->handover > 0 && retry->kind != DLOCK_RETRY_PUSH)
        (void)dlock_fail(DLOCK_INVALID, "handover needs the retry policy push");
    else
        return true;
    return false;
}

/* Can the variant have its grants acknowledged by replicas, and give back a grant that
 * too few have acknowledged?  False: dlock_error() has the reason. */
static bool check_replicas(const dlock_options *opts, const dlock_variant *variant)
{
    enum dlock_store store = dlock_store_of(&variant->info);

    if (opts->replicas_acknowledge < 0 || opts->replicas_acknowledge > DLOCK_REPLICAS_LIMIT)
        (void)dlock_fail(DLOCK_INVALID, "replicas_acknowledge has to be from 0 to %d",
                         (int)DLOCK_REPLICAS_LIMIT);
    else if (opts->replicas_acknowledge > 0 && store == DLOCK_STORE_REDIS_NODES)
        (void)dlock_fail(DLOCK_INVALID, "replicas_acknowledge is for the locks on one Redis; "
                         "%s has its copies on independent servers, and counts their votes",
                         variant->info.name);
    else if (opts->replicas_acknowledge > 0 && store != DLOCK_STORE_REDIS)
        (void)dlock_fail(DLOCK_INVALID, "replicas_acknowledge is for the locks on one Redis, and "
                         "%s is none", variant->info.name);
    else if (opts->replicas_acknowledge > 0 && variant->blind_release)
        (void)dlock_fail(DLOCK_INVALID, "a lock of %s names no owner, so a grant that too few "
                         "replicas acknowledged could not be given back; use lua or reentrant "
                         "with replicas_acknowledge", variant->info.name);
    else
        return true;
    return false;
}

const dlock_variant *dlock_options_check(const dlock_options *opts)
{
    const dlock_variant *variant;
    struct dlock_retry retry;
    const char *flaw;

    variant = find_variant(opts->variant);
    if (variant == NULL)
        return NULL;
    flaw = dlock_variant_flaw(variant);
    if (flaw != NULL)
        (void)dlock_fail(DLOCK_INVALID, "variant %s breaks its contract: %s",
                         variant->info.name, flaw);
    else if (opts->lease_ms < DLOCK_LEASE_MIN_MS)
        (void)dlock_fail(DLOCK_INVALID, "a lease of %d ms is below the least, %d ms",
                         opts->lease_ms, (int)DLOCK_LEASE_MIN_MS);
    else if (opts->redis_timeout_ms <= 0 || opts->redlock_node_timeout_ms <= 0 ||
             opts->database_timeout_ms <= 0 || opts->zookeeper_timeout_ms <= 0 ||
             opts->etcd_timeout_ms <= 0)
        (void)dlock_fail(DLOCK_INVALID, "a timeout has to be above 0 ms");
    else if (dlock_retry_parse(opts->retry, &retry) == DLOCK_OK &&
             check_handover(opts, variant, &retry) && check_replicas(opts, variant))
        return variant;
    return NULL;
}

static bool copy_text(const char **text)
{
    if (*text != NULL) {
        *text = strdup(*text);
        return *text != NULL;
    }
    return true;
}

bool dlock_options_copy(dlock_options *to, const dlock_options *from)
{
    bool copied = true;

    *to = *from;
#define X(field) copied = copy_text(&to->field) && copied;
    TEXTS(X)
#undef X
    if (!copied)
        dlock_options_free(to);
    return copied;
}

int dlock_options_lease_ms(const dlock_variant *variant, int lease_ms)
{
    int limit_ms = variant->lease_limit_ms;

    if (limit_ms > 0 && lease_ms > limit_ms &&
        !atomic_load(&dlock_process_here()->limits_are_lifted))
        return limit_ms;
    return lease_ms;
}

void dlock_options_lift_limits(bool lifted)
{
    atomic_store(&dlock_process_here()->limits_are_lifted, lifted);
}

void dlock_options_free(dlock_options *opts)
{
#define X(field)                                                                       \
    free((char *)opts->field);                                                         \
    opts->field = NULL;
    TEXTS(X)
#undef X
}
