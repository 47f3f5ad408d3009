/* SPDX-License-Identifier: MIT */
/* test_lock_registry.c -- the catalogue, and the mistakes that a variant can have. */
#include <string.h>

#include "lock/dlock_variant.h"
#include "tests/registered.h"

TEST(the_catalogue_is_sound)
{
    assert_true(dlock_variant_count() >= 7);
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *info = dlock_variant_at(i);
        const char *flaw = dlock_variant_flaw(dlock_variants[i]);

        if (flaw != NULL)
            fail_msg("%s: %s", info->name, flaw);
        assert_ptr_equal(info, dlock_variant_find(info->name));
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(info->name, dlock_variant_at(other)->name);
        assert_true(strlen(info->promises) > 0 && strlen(info->breaks) > 0);
    }
    assert_null(dlock_variant_at(dlock_variant_count()));
    assert_null(dlock_variant_find("nosuch"));
    assert_null(dlock_variant_find("Reentrant"));
    assert_null(dlock_variant_find(""));
    assert_null(dlock_variant_find(NULL));
    assert_non_null(dlock_variant_find(dlock_options_default().variant));
}

static const dlock_variant *find(const char *name)
{
    for (size_t i = 0; i < dlock_variant_count(); i++)
        if (strcmp(dlock_variants[i]->info.name, name) == 0)
            return dlock_variants[i];
    return NULL;
}

static void assert_flaw(const dlock_variant *variant, const char *text)
{
    const char *flaw = dlock_variant_flaw(variant);

    assert_non_null(flaw);
    if (strstr(flaw, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", flaw, text);
}

/* Change one thing in a copy of a correct variant. */
#define ASSERT_FLAW(base, change, text)                                                \
    do {                                                                               \
        dlock_variant v = *find(base);                                                 \
        change;                                                                        \
        assert_flaw(&v, text);                                                         \
    } while (0)

TEST(every_broken_promise_is_found)
{
    ASSERT_FLAW("none", v.info.name = NULL, "name");
    ASSERT_FLAW("none", v.info.name = "", "name");
    ASSERT_FLAW("none", v.info.name = "Bad name", "name");
    ASSERT_FLAW("none", v.info.promises = NULL, "text");
    ASSERT_FLAW("none", v.info.store = NULL, "text");
    ASSERT_FLAW("none", v.try_acquire = NULL, "try_acquire");
    ASSERT_FLAW("none", v.release = NULL, "release");
    ASSERT_FLAW("lua", v.open = NULL, "open and close");
    ASSERT_FLAW("lua", v.close = NULL, "open and close");
    ASSERT_FLAW("lua", v.renew = NULL, "RENEW");
    ASSERT_FLAW("lua", v.info.caps &= ~(unsigned)DLOCK_CAP_RENEW, "RENEW");
    ASSERT_FLAW("lua", v.drift_per_mille = 0, "drift");
    ASSERT_FLAW("none", v.drift_per_mille = 1, "drift");
    ASSERT_FLAW("naive", v.watched = true, "watched");
    ASSERT_FLAW("lua", v.blind_release = true, "OWNED");
    ASSERT_FLAW("reentrant", v.watch = NULL, "PUSH");
    ASSERT_FLAW("reentrant", v.sleep = NULL, "PUSH");
    ASSERT_FLAW("reentrant", v.unwatch = NULL, "PUSH");
    ASSERT_FLAW("none", v.info.caps |= DLOCK_CAP_PUSH, "PUSH");
    ASSERT_FLAW("naive", v.info.caps &= ~(unsigned)DLOCK_CAP_LOCAL, "threads");
    ASSERT_FLAW("local", v.lease_limit_ms = 100, "limit");
    ASSERT_FLAW("lua", v.lease_limit_ms = 1, "limit");
    ASSERT_FLAW("fair", v.leave = NULL, "FAIR");
    ASSERT_FLAW("lua", v.info.caps |= DLOCK_CAP_FAIR, "FAIR");
    ASSERT_FLAW("lua", v.inspect = NULL, "inspect");
    ASSERT_FLAW("zk-seq", v.force = NULL, "force");
    ASSERT_FLAW("spin", v.poll_max_ms = -1, "poll");
    ASSERT_FLAW("reentrant", v.poll_max_ms = 10, "poll");
    ASSERT_FLAW("lua", v.info.caps |= DLOCK_CAP_SHARED, "readers");
    ASSERT_FLAW("local", v.info.caps |= DLOCK_CAP_ATOMIC, "never expires");
    ASSERT_FLAW("lua",
                (v.info.caps &= ~(unsigned)DLOCK_CAP_EXPIRES, v.drift_per_mille = 0),
                "never expires");
}
