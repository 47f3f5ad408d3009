/* SPDX-License-Identifier: MIT */
/* reference_locks.c -- the page about locks and guards: the catalogue of the variants, and,
 * from the expectations of the laboratory, where each variant fails and why. */
#include <stdlib.h>

#include "db/guard.h"
#include "loadtest/expect/expectation.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "loadtest/scenario/catalogue.h"
#include "lock/dlock.h"
#include "tools/reference.h"

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

static void flaw_row(FILE *out, const char *command, const char *name,
                     const dlock_variant_info *lock, const struct expectation *e)
{
    fprintf(out, "| `seckill %s%s --locks=%s` ", command, name, lock->name);
    reference_cell(out, scenario_outcome_name(e->outcome, false));
    reference_cell(out, e->reason);
    reference_end_row(out);
}

/* Every hazard and every story that this lock must fail in, under the guard of the story. */
static void flaws_of(FILE *out, const dlock_variant_info *lock)
{
    fprintf(out, "\n### %s\n\n| command | outcome | cause |\n|---|---|---|\n", lock->name);
    for (size_t i = 0; hazard_at(i) != NULL; i++) {
        const struct expectation *e =
            expectation_of_hazard(hazard_at(i)->name, lock, ORDER_PATH_each);

        if (e != NULL && is_flaw(e->outcome))
            flaw_row(out, "compare --hazards=", hazard_at(i)->name, lock, e);
    }
    for (size_t i = 0; scenario_at(i) != NULL; i++) {
        struct scenario_setup *setups;
        size_t count = scenario_setups(scenario_at(i), lock->name, NULL, &setups);

        for (size_t k = 0; k < count; k++)
            if (setups[k].expected->guard == NULL && is_flaw(setups[k].expected->outcome))
                flaw_row(out, "scenario run ", scenario_at(i)->name, lock,
                         setups[k].expected);
        free(setups);
    }
}

void reference_locks(FILE *out)
{
    catalogue(out);
    guards(out);
    fputs(
        "\n## Where each lock fails\n\n"
        "Each command shows a failure under one lock on real servers, and exits with 0 if the "
        "outcome is the expected\none. If the cause does not depend on the lock, the row shows no "
        "flaw of the lock. Some scenarios run with a\npart of the locks only, so a missing row "
        "does not mean that a lock holds. `calm` is load without a fault. The\nrows come from "
        "[expectations.def](../../loadtest/expect/expectations.def), which also has the outcomes "
        "that\nare no failures.\n",
        out);
    for (size_t i = 0; i < dlock_variant_count(); i++)
        flaws_of(out, dlock_variant_at(i));
}
