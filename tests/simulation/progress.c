/* SPDX-License-Identifier: MIT */
/* progress.c -- lines on stderr, at most one in ten seconds, and the file of failed seeds. */
#include "tests/simulation/progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/simulation/faults.h"

enum { PROGRESS_S = 10 };

static FILE *failed;
static const char *failed_name;
static time_t told_at; /* the time of the last printed line, or of the first batch's beginning */

/* The machine's clock, which nothing else in the simulation reads. */
static time_t now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec;
}

bool progress_begin(const char *failed_file)
{
    told_at = now();
    failed_name = failed_file;
    if (failed_file == NULL)
        return true;
    failed = fopen(failed_file, "we");
    if (failed == NULL)
        (void)fprintf(stderr, "simulate: cannot write %s: %s\n", failed_file, strerror(errno));
    return failed != NULL;
}

void progress_note(const struct batch *batch, const struct outcome *outcome, uint64_t seed,
                   const struct account *account)
{
    const char *variant = batch->variant->name, *class = class_rows[batch->class].name;

    if (failed != NULL && batch->is_wrong(batch, account->verdict)) {
        (void)fprintf(failed, "make simulate VARIANT=%s CLASS=%s SEED=%llu # %s: %s\n", variant,
                      class, (unsigned long long)seed, world_verdict_name(account->verdict),
                      account->text);
        /* Otherwise the process of each seed would write its copy of the buffer too. */
        (void)fflush(failed);
    }
    if (now() < told_at + PROGRESS_S)
        return;
    told_at = now();
    (void)fprintf(stderr, "# %s %s: %llu of %llu seeds, %llu failed\n", variant, class,
                  (unsigned long long)outcome->seeds, (unsigned long long)batch->seed_count,
                  (unsigned long long)outcome->wrong_count);
}

bool progress_end(void)
{
    bool is_written = failed == NULL || (ferror(failed) == 0 && fclose(failed) == 0);

    if (!is_written)
        (void)fprintf(stderr, "simulate: cannot write %s: %s\n", failed_name, strerror(errno));
    return is_written;
}
