/* SPDX-License-Identifier: MIT */
/* wrong.c -- runs every wrong variant against the law that has to fail with it. */
#include "tests/conformance/wrong.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/registry.h"
#include "tests/jobs.h"
#include "tests/conformance/rig.h"

enum { NAME_SIZE = 80, CASE_SIZE = 160, DESCRIPTION_SIZE = 400, LIES_MAX = 200, LIE_TRIES = 3 };
/* The laws wait for so long, and in vain, for states of a wrong lock. */
enum { LIE_PATIENCE_MS = 2500 };

/* A wrong variant of a file in wrong/. */
struct wrong {
    const char *id; /* the name of its function */
    const char *base;
    const char *law;
    const char *lie;
    wrong_fn *make;
};

static const struct wrong wrongs[] = {
#define WRONG(id, base, law, lie) {#id, base, law, lie, wrong_##id},
#include "tests/conformance/wrong.def"
#undef WRONG
};

/* Defects of single functions, which fit every variant that excludes others. */
static dlock_status release_nothing(void *state, const dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

static const dlock_variant *real; /* the variant that the defect is about */

static dlock_status let_everybody_in(void *state, dlock_claim *claim)
{
    dlock_status st = real->try_acquire(state, claim);

    return st == DLOCK_BUSY ? DLOCK_OK : st;
}

static void releases_nothing(dlock_variant *it)
{
    it->release = release_nothing;
}

static void lets_everybody_in(dlock_variant *it)
{
    it->try_acquire = let_everybody_in;
}

static const struct wrong generic[] = {
    {"release_does_nothing", NULL, "excludes a second owner",
     "its release does nothing", releases_nothing},
    {"acquire_always_ok", NULL, "excludes a second owner", "it lets everybody in",
     lets_everybody_in},
};

/* A defect of one variant. */
struct lie {
    const struct wrong *wrong;
    const char *base;
    char name[NAME_SIZE]; /* "reuses-a-fence", "acquire-always-ok:lua" */
};

static struct lie lies[LIES_MAX];
static size_t lie_count;

static void add_lie(const struct wrong *wrong, const char *base, bool name_it)
{
    struct lie *lie = &lies[lie_count];

    if (lie_count == LIES_MAX)
        return;
    lie_count++;
    lie->wrong = wrong;
    lie->base = base;
    snprintf(lie->name, sizeof(lie->name), "%s%s%s", wrong->id, name_it ? ":" : "",
             name_it ? base : "");
    for (char *c = lie->name; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
}

static void add_all_lies(void)
{
    if (lie_count > 0)
        return;
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
        add_lie(&wrongs[i], wrongs[i].base, false);
    /* For a variant that excludes nobody, both defects are its correct behaviour. */
    for (size_t g = 0; g < sizeof(generic) / sizeof(generic[0]); g++)
        for (size_t v = 0; v < dlock_variant_count(); v++)
            if (dlock_variant_at(v)->caps & DLOCK_CAP_LOCAL)
                add_lie(&generic[g], dlock_variant_at(v)->name, true);
}

const char *wrong_enable(const char *name)
{
    static dlock_variant it;

    add_all_lies();
    for (size_t i = 0; i < lie_count; i++) {
        if (strcmp(lies[i].name, name) != 0)
            continue;
        real = dlock_registry_find(lies[i].base);
        it = *real;
        lies[i].wrong->make(&it);
        dlock_registry_replace(&it);
        rig_patience_ms = LIE_PATIENCE_MS;
        return lies[i].base;
    }
    return NULL;
}

void wrong_list(void)
{
    add_all_lies();
    for (size_t i = 0; i < lie_count; i++)
        printf("%s (%s): %s\n", lies[i].name, lies[i].base, lies[i].wrong->lie);
}

static int (*run_law)(const char *name);

static const char *describe(size_t which)
{
    static char text[DESCRIPTION_SIZE];
    const struct lie *lie = &lies[which];

    snprintf(text, sizeof(text), "%s, %s, is caught by \"%s: %s\"", lie->name,
             lie->wrong->lie, lie->base, lie->wrong->law);
    return text;
}

/* pg-unique deletes ended rows of every name. Other programs that use the same PostgreSQL can
 * therefore delete the row on which a defect of pg-unique shows, and then the law holds by
 * chance. */
static int tries_of(const struct lie *lie)
{
    return strcmp(lie->base, "pg-unique") == 0 ? LIE_TRIES : 1;
}

/* Does the wrong lock serve a caller without competition? If not, every law rejects it. */
static bool serves(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = NULL;
    dlock_lease lease;
    bool ok = dlock_open(&sys, &opts) == DLOCK_OK &&
              dlock_acquire(sys, rig_name(), 0, &lease) == DLOCK_OK &&
              dlock_release(sys, &lease) == DLOCK_OK;

    if (!ok)
        printf("# the wrong one serves nobody: %s\n", dlock_error());
    dlock_close(sys);
    return ok;
}

/* In a process of its own: the law has to hold for the real variant, and to fail for the wrong
 * one. */
static int judge(size_t which)
{
    const struct lie *lie = &lies[which];
    char law[CASE_SIZE];

    snprintf(law, sizeof(law), "%s: %s", lie->base, lie->wrong->law);
    if (run_law(law) != 0) {
        puts("# the real one does not keep the law");
        return 1;
    }
    setenv(WRONG_ENV, lie->name, 1);
    if (wrong_enable(lie->name) == NULL || !serves(lie->base))
        return 1;
    for (int tries = tries_of(lie); tries > 0; tries--)
        if (run_law(law) == 1)
            return 0;
    puts("# the wrong one keeps the law");
    return 1;
}

int wrong_run_all(unsigned at_once, bool fail_fast, int (*run_named)(const char *name))
{
    struct jobs jobs = {.name = describe, .run = judge, .at_once = at_once, .fail_fast = fail_fast};

    add_all_lies();
    run_law = run_named;
    jobs.count = lie_count;
    return jobs_run(&jobs);
}
