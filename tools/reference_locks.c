/* SPDX-License-Identifier: MIT */
/* reference_locks.c -- the page about locks and guards: the catalogue of the variants, and,
 * from the expectations of the laboratory, where each variant fails and why. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "db/guard.h"
#include "loadtest/expect/expectation.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "loadtest/scenario/catalogue.h"
#include "lock/dlock.h"
#include "tools/reference.h"

enum { LOCKS_MAX = 64 };

/* Is the outcome a failure under the lock? */
static bool is_flaw(enum scenario_outcome outcome)
{
    return outcome == SCENARIO_BREAKS || outcome == SCENARIO_DEAD;
}

static void catalogue(FILE *out)
{
    fputs("# Locks and guards\n\n## Locks\n\n"
          "The values of `--lock`. `seckill locks` prints the first four columns.\n\n"
          "| lock | store | promises | what breaks it | described in |\n|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *v = dlock_variant_at(i);

        reference_code_cell(out, v->name);
        reference_cell(out, v->store);
        reference_cell(out, v->promises);
        reference_cell(out, v->breaks);
        reference_cell(out, v->source);
        reference_end_row(out);
    }
    fputs("\nEvery lock on one Redis also breaks when the server loses its key. The server loses "
          "the key by a fail-over, by\na restart without its data, or by an eviction. Every lock "
          "on one Redis except `getset` also breaks when the\nclock of the server is set ahead. "
          "A fail-over of PostgreSQL may lose the row of `pg-unique` and `pg-fair`, and\nalways "
          "ends `pg-advisory` and `pg-row`.\n",
          out);
}

static void guards(FILE *out)
{
    fputs("\n## Stock guards\n\nThe values of `--stock-guard`.\n\n"
          "| guard | what it does | needs a fence |\n|---|---|---|\n",
          out);
    for (size_t i = 0; guard_at(i) != NULL; i++) {
        reference_code_cell(out, guard_at(i)->name);
        reference_cell(out, guard_at(i)->does);
        reference_cell(out, guard_at(i)->needs_fence ? "yes" : "");
        reference_end_row(out);
    }
}

/* The rows of one hazard or story, one for each cause, with all locks that fail by it; `found` has
 * the expectation of each lock in the order of the catalogue, NULL: it is no failure. */
static void flaw_rows(FILE *out, const char *command, const char *name,
                      const struct expectation *found[])
{
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const struct expectation *e = found[i];

        if (e == NULL)
            continue;
        fprintf(out, "| `seckill %s%s` |", command, name);
        for (size_t k = i; k < dlock_variant_count(); k++)
            if (found[k] != NULL && found[k]->outcome == e->outcome &&
                strcmp(found[k]->reason, e->reason) == 0) {
                fprintf(out, " `%s`", dlock_variant_at(k)->name);
                found[k] = NULL;
            }
        fputc(' ', out);
        reference_cell(out, scenario_outcome_name(e->outcome, false));
        reference_cell(out, e->reason);
        reference_end_row(out);
    }
}

static void hazard_flaws(FILE *out, const struct expectation *found[])
{
    for (size_t i = 0; hazard_at(i) != NULL; i++) {
        for (size_t k = 0; k < dlock_variant_count(); k++) {
            found[k] =
                expectation_of_hazard(hazard_at(i)->name, dlock_variant_at(k), ORDER_PATH_each);
            if (found[k] != NULL && !is_flaw(found[k]->outcome))
                found[k] = NULL;
        }
        flaw_rows(out, "compare --hazards=", hazard_at(i)->name, found);
    }
}

/* Every story under its own guard. */
static void story_flaws(FILE *out, const struct expectation *found[])
{
    for (size_t i = 0; scenario_at(i) != NULL; i++) {
        for (size_t k = 0; k < dlock_variant_count(); k++) {
            struct scenario_setup *setups;
            size_t count =
                scenario_setups(scenario_at(i), dlock_variant_at(k)->name, NULL, &setups);

            found[k] = NULL;
            for (size_t j = 0; j < count; j++)
                if (setups[j].expected->guard == NULL && is_flaw(setups[j].expected->outcome))
                    found[k] = setups[j].expected;
            free(setups);
        }
        flaw_rows(out, "scenario run ", scenario_at(i)->name, found);
    }
}

void reference_locks(FILE *out)
{
    const struct expectation *found[LOCKS_MAX];

    assert(dlock_variant_count() <= LOCKS_MAX);
    catalogue(out);
    guards(out);
    fputs("\n## Where each lock fails\n\n"
          "With `--locks=LOCK` each command shows the failure of one lock on real servers, and "
          "exits with 0 if the outcome\nis the expected one. If the cause does not depend on the "
          "lock, the row shows no flaw of the lock. Some scenarios\nrun with a part of the locks "
          "only, so a lock that is missing in a row need not hold. `calm` is load without a\n"
          "fault. The rows come from [expectations.def](../../loadtest/expect/expectations.def), "
          "which also has the outcomes\nthat are no failures.\n\n"
          "| command | locks | outcome | cause |\n|---|---|---|---|\n",
          out);
    hazard_flaws(out, found);
    story_flaws(out, found);
}
