/* SPDX-License-Identifier: MIT */
/* idle.c -- the cost of the fault points and of the recorder when no fault is made:
 * this build of the lock library beside one without them (lock/bare.h).
 *
 * The speed of threads varies between processes by more than this cost.  Therefore one process
 * loads both builds, and the same threads work for each side in turn, in slices of time
 * (idle_race.c). */
#include "loadtest/bench/idle_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/version.h"
#include "loadtest/bench/cell.h"

static const struct idle_contest contests[IDLE_CONTESTS] = {
    {"lua", 1}, {"lua", 64}, {"reentrant", 1}, {"reentrant", 64},
};

static enum exit_code measure_contest(const struct idle_plan *plan, int round,
                                      struct idle_figures *f)
{
    struct idle_result *result = cell_share(sizeof *result);
    enum exit_code rc = EXIT_BUG;
    struct child child;

    if (cell_start(&child, idle_race, plan, result))
        rc = cell_wait(&child, bench_limit_ms(IDLE_TIMES_LONGER * plan->b->duration_ms), "idle");
    if (!files_remove_tree(plan->records) && rc == EXIT_VALID) {
        idle_complain(plan->records, "cannot be removed");
        rc = EXIT_BUG;
    }
    for (int i = 0; i < IDLE_SIDE_COUNT; i++)
        f->per_s[i][round] = result->per_s[i];
    for (int i = 0; i < IDLE_RATIO_COUNT && rc == EXIT_VALID; i++)
        f->ratio[i][round] =
            f->per_s[idle_ratios[i].side][round] / f->per_s[idle_ratios[i].beside][round];
    cell_unshare(result, sizeof *result);
    return rc;
}

/* The library that --bare names, or that `make BUILD=bare` leaves beside this program. */
static bool find_bare(const struct bench_locks *b, char *out)
{
    if (b->bare)
        return realpath(b->bare, out) && access(out, R_OK) == 0;
    files_sibling(out, "bare/" SECKILL_LIBRARY);
    return access(out, R_OK) == 0;
}

static enum exit_code measure_rounds(struct bench_locks *b, struct idle_plan *plan)
{
    static struct idle_figures figures[IDLE_CONTESTS];
    enum exit_code rc = EXIT_VALID;

    for (int r = 0; r < b->rounds && rc == EXIT_VALID; r++) {
        for (int i = 0; i < IDLE_CONTESTS && rc == EXIT_VALID; i++) {
            plan->contest = &contests[i];
            bench_progress(b, r, "%s, %d threads, beside a bare build",
                           contests[i].variant, contests[i].threads);
            rc = measure_contest(plan, r, &figures[i]);
        }
    }
    if (rc == EXIT_VALID)
        idle_print(b, contests, figures);
    return rc;
}

enum exit_code bench_idle(struct bench_locks *b)
{
    char bare[FILES_PATH_MAX], whole[FILES_PATH_MAX], dir[FILES_PATH_MAX],
        records[FILES_PATH_MAX];
    struct idle_plan plan = {.b = b, .libraries = {bare, whole, whole}, .records = records};

    if (!find_bare(b, bare)) {
        bool is_wanted = b->is_chosen || b->bare;

        fprintf(is_wanted ? stderr : b->tables,
                "\nidle: there is no library to measure against, %s; build it: make "
                "BUILD=bare\n",
                b->bare ? b->bare : bare);
        return is_wanted ? EXIT_UNAVAILABLE : EXIT_VALID;
    }
    files_sibling(whole, SECKILL_LIBRARY);
    if (!realpath(b->dir, dir)) {
        idle_complain(b->dir, strerror(errno));
        return EXIT_BUG;
    }
    files_join(records, dir, "records");
    return measure_rounds(b, &plan);
}
