/* SPDX-License-Identifier: MIT */
/* wrk_load.c -- one run of wrk and its results. */
#include "loadtest/open_loop/open_loop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/command.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/shell.h"
#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/sale/ends.h"

/* The part of wrk's output that our script prints. */
static void print_outcomes(const char *dir)
{
    char path[FILES_PATH_MAX];
    char *text, *part;

    files_join(path, dir, "wrk.txt");
    text = files_read(path, NULL);
    part = text ? strstr(text, "Orders for voucher") : NULL;
    if (part) {
        why_print(stdout, part);
        putchar('\n');
    }
    free(text);
}

/* Compare the objectives with the run, and name a missed objective in the last line. */
static enum exit_code judge(const struct objectives *objectives, const struct measured *measured,
                            const struct audit_verdict *verdict, enum exit_code rc)
{
    bool hold = objectives_first_missed(objectives, measured, NULL) == NULL;
    char says[OBJECTIVE_SAYS_MAX];

    if (objectives->count == 0)
        return rc;
    objectives_print(stdout, objectives, measured);
    putchar('\n');
    rc = objectives_exit(hold, rc, figures_found_others(objectives, verdict));
    if (rc == EXIT_THRESHOLD && objectives_first_missed(objectives, measured, says))
        command_explain_exit(rc, "%s", says);
    return rc;
}

static void print_result(const struct run_plan *plan, const struct run_result *result)
{
    print_outcomes(plan->dir);
    if (!plan->remote) /* without a start signal */
        printf("%d clients started within %.2f ms%s\n", result->start.fired,
               result->start.spread_ms,
               result->start.by_signal == result->start.fired
                   ? ""
                   : ", not all of them by the start signal");
    printf("%.0f accepted orders per second, p99 %.1f ms\n\n", result->orders_per_s,
           result->p99_ms);
    if (result->users_ran_out)
        printf("The load ended after %" PRId64 " ms, because the users of a thread of wrk ran out: "
               "each had\nbought, or may have bought.\n\n",
               result->elapsed_ms);
}

static void tell_programs(const struct run_plan *plan, const struct run_result *result,
                          const struct objectives *objectives, const struct measured *measured)
{
    if (!json_lines_are_on())
        return;
    json_lines_write("run", json_pack("{s:s?, s:o, s:f, s:f, s:I, s:I, s:I, s:o, s:o}", "run",
                                      plan->title, "dir", json_lines_text(plan->dir),
                                      "orders_per_s", result->orders_per_s, "p99_ms",
                                      result->p99_ms, "sent", (json_int_t)result->sent,
                                      "unanswered",
                                      (json_int_t)result->unanswered, "elapsed_ms",
                                      (json_int_t)result->elapsed_ms, "verdict",
                                      plan->remote
                                          ? json_null()
                                          : audit_to_json(&result->verdict, "database"),
                                      "objectives",
                                      objectives_json(objectives, measured)));
}

enum exit_code wrk_load(const struct run_plan *plan, const struct objectives *objectives)
{
    struct run_result *result = memory_need(calloc(1, sizeof *result));
    enum exit_code rc = run_once(plan, result);
    char path[FILES_PATH_MAX], word[SHELL_WORD_MAX];
    struct wrk_figures figures;
    struct measured measured;

    if (rc == EXIT_INTERRUPTED && result->start.fired == 0) {
        runs_take_back(plan->dir);
    } else if (rc == EXIT_VALID || rc == EXIT_INTERRUPTED) {
        if (rc == EXIT_VALID)
            rc = run_verdict_exit(plan, result);
        print_result(plan, result);
        wrk_figures_read(&figures, plan->dir, result);
        measured = wrk_measured(&figures);
        rc = ends_exit(result, judge(objectives, &measured, &result->verdict, rc));
        files_join(path, plan->dir, "objectives.json");
        if (!objectives_write(path, objectives, &measured) && rc == EXIT_VALID)
            rc = EXIT_CANNOT_WRITE;
        run_print_verdict(plan, result);
        tell_programs(plan, result, objectives, &measured);
        printf("\nkept in %s\n", plan->dir);
        if (plan->record)
            printf("who held which lock when: seckill check %s\n", shell_word(word, plan->dir));
    }
    free(result);
    return rc;
}
