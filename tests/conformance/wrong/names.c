/* SPDX-License-Identifier: MIT */
/* names.c -- names that are mistaken for others, or leave keys behind. */
#include <ctype.h>
#include <stdio.h>

#include "tests/conformance/wrong.h"

enum { NAMES_KEPT = 32 };

/* Writes the name that the lock uses for `name`; each wrong lock has a process of its own. */
static void (*names_change)(const char *name, char out[DLOCK_NAME_MAX + 1]);

static dlock_status names_acquire(void *link, dlock_claim *claim)
{
    char name[DLOCK_NAME_MAX + 1];
    dlock_claim changed = *claim;

    names_change(claim->name, name);
    changed.name = name;
    return wrong_plain_acquire(link, &changed);
}

static dlock_status names_release(void *link, const dlock_claim *claim)
{
    char name[DLOCK_NAME_MAX + 1];
    dlock_claim changed = *claim;

    names_change(claim->name, name);
    changed.name = name;
    return wrong_plain_release(link, &changed);
}

static void names_be_changed(dlock_variant *it, void (*change)(const char *name, char *out))
{
    wrong_be_plain(it);
    names_change = change;
    it->try_acquire = names_acquire;
    it->release = names_release;
}

static void cuts_names_change(const char *name, char out[DLOCK_NAME_MAX + 1])
{
    snprintf(out, NAMES_KEPT + 1, "%s", name);
}

/* A name cut to the size of a buffer: two long names become one lock. */
void wrong_cuts_names(dlock_variant *it)
{
    names_be_changed(it, cuts_names_change);
}

static void ignores_case_change(const char *name, char out[DLOCK_NAME_MAX + 1])
{
    size_t i = 0;

    for (; name[i] != '\0'; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[i] = '\0';
}

/* Names as a case-insensitive collation compares them. */
void wrong_ignores_case(dlock_variant *it)
{
    names_be_changed(it, ignores_case_change);
}

static void hashes_names_change(const char *name, char out[DLOCK_NAME_MAX + 1])
{
    uint32_t sum = 2166136261;

    for (; *name != '\0'; name++)
        sum = (sum ^ (unsigned char)*name) * 16777619;
    snprintf(out, 16, "wrong:%03x", sum % 512);
}

/* A table of 512 locks for any number of names. */
void wrong_hashes_names(dlock_variant *it)
{
    names_be_changed(it, hashes_names_change);
}

static dlock_status leaks_a_key_per_name_release(void *link, const dlock_claim *claim)
{
    char counter[DLOCK_NAME_MAX + 8];
    struct redis_command incr = {2, {"INCR", counter}, REDIS_SHAPE_ANY};
    struct redis_answer answer;

    snprintf(counter, sizeof(counter), "%s:uses", claim->name);
    (void)redis_call(link, &incr, INT64_MAX, &answer);
    return wrong_plain_release(link, claim);
}

/* An additional key for each name, which nothing deletes. */
void wrong_leaks_a_key_per_name(dlock_variant *it)
{
    wrong_be_plain(it);
    it->release = leaks_a_key_per_name_release;
}
