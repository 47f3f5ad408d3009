/* SPDX-License-Identifier: MIT */
/* options.c -- the options of a system: defaults, checks, a copy to keep. */
#include "lock/options.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/registry.h"
#include "lock/retry.h"

enum {
    DEFAULT_LEASE_MS = 30000,
    DEFAULT_REDIS_TIMEOUT_MS = 2000,
    DEFAULT_NODE_TIMEOUT_MS = 50,
    DEFAULT_DATABASE_TIMEOUT_MS = 2000,
    DEFAULT_ZOOKEEPER_TIMEOUT_MS = 2000,
    NAMES_SIZE = 256,
};

dlock_options dlock_options_default(void)
{
    dlock_options opts = {
        .variant = "reentrant",
        .lease_ms = DEFAULT_LEASE_MS,
        .watchdog = true,
        .redis_timeout_ms = DEFAULT_REDIS_TIMEOUT_MS,
        .redlock_node_timeout_ms = DEFAULT_NODE_TIMEOUT_MS,
        .database_timeout_ms = DEFAULT_DATABASE_TIMEOUT_MS,
        .zookeeper_timeout_ms = DEFAULT_ZOOKEEPER_TIMEOUT_MS,
    };

    return opts;
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

const dlock_variant *dlock_options_check(const dlock_options *opts)
{
    const dlock_variant *variant;
    struct dlock_retry retry;
    const char *flaw;

    if (opts == NULL) {
        (void)dlock_fail(DLOCK_INVALID, "no options were given");
        return NULL;
    }
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
             opts->database_timeout_ms <= 0 || opts->zookeeper_timeout_ms <= 0)
        (void)dlock_fail(DLOCK_INVALID, "a timeout has to be above 0 ms");
    else if (dlock_retry_parse(opts->retry, &retry) == DLOCK_OK)
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
    bool copied;

    *to = *from;
    copied = copy_text(&to->variant);
    copied = copy_text(&to->redis_url) && copied;
    copied = copy_text(&to->redlock_urls) && copied;
    copied = copy_text(&to->database_url) && copied;
    copied = copy_text(&to->retry) && copied;
    copied = copy_text(&to->record_dir) && copied;
    copied = copy_text(&to->zookeeper_url) && copied;
    if (!copied)
        dlock_options_free(to);
    return copied;
}

static atomic_bool limits_are_lifted;

int dlock_options_lease_ms(const dlock_variant *variant, int lease_ms)
{
    int limit_ms = variant->lease_limit_ms;

    if (limit_ms > 0 && lease_ms > limit_ms && !atomic_load(&limits_are_lifted))
        return limit_ms;
    return lease_ms;
}

void dlock_options_lift_limits(bool lifted)
{
    atomic_store(&limits_are_lifted, lifted);
}

void dlock_options_free(dlock_options *opts)
{
    free((char *)opts->variant);
    free((char *)opts->redis_url);
    free((char *)opts->redlock_urls);
    free((char *)opts->database_url);
    free((char *)opts->zookeeper_url);
    free((char *)opts->retry);
    free((char *)opts->record_dir);
    opts->variant = opts->redis_url = opts->redlock_urls = opts->database_url =
        opts->retry = NULL;
    opts->zookeeper_url = opts->record_dir = NULL;
}
