/* SPDX-License-Identifier: MIT */
/* report.c -- the comparison as people read it: on a terminal and in Markdown.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/compare/compare.h"
#include "loadtest/kit/machine.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/style.h"
#include "loadtest/sale/hazard_catalogue.h"

enum { LOCK_WIDTH = 13, CELL_WIDTH = 25, TEXT_MAX = 512 };

/* The verdict of the cell's worst run, in a word or two. */
static void verdict_text(const struct cell *cell, char *out, size_t size)
{
    const char *what = cell->experiment->is_per_user ? "twice" : "over";
    int of[RUN_OUTCOME_COUNT] = {0}, done;

    cell_count_runs(cell, of);
    done = cell->run_count - of[RUN_NOT_DONE];
    if (done == 0)
        snprintf(out, size, "-");
    else if (of[RUN_WRONG] > 0)
        snprintf(out, size, "WRONG");
    else if (of[RUN_BROKEN] > 0 && cell_excess(cell) > 0)
        snprintf(out, size, "%" PRId64 " %s", cell_excess(cell), what);
    else if (of[RUN_BROKEN] > 0)
        snprintf(out, size, "lost updates");
    else
        snprintf(out, size, of[RUN_UNKNOWN] > 0 ? "unknown" : "sound");
    if (of[RUN_BROKEN] > 0 && of[RUN_SOUND] > 0)
        snprintf(out + strlen(out), size - strlen(out), " (%d/%d)", of[RUN_BROKEN],
                 done);
}

static const char *mark_of(const struct cell *cell)
{
    enum cell_outcome outcome = cell_outcome_of(cell);

    return outcome == CELL_UNEXPECTED ? "!" : outcome == CELL_NO_EXPECTATION ? "?" : "";
}

static void cell_text(const struct cell *cell, char *out, size_t size)
{
    char verdict[64];

    verdict_text(cell, verdict, sizeof verdict);
    if (strcmp(verdict, "-") == 0 || strcmp(verdict, "unknown") == 0)
        snprintf(out, size, "%s", verdict);
    else
        snprintf(out, size, "%s%s, %.0f/s, %.0fms", mark_of(cell), verdict,
                 cell_orders_per_s(cell), cell_p99_ms(cell));
}

static enum report_style style_of(const struct cell *cell)
{
    enum cell_outcome outcome = cell_outcome_of(cell);

    if (outcome == CELL_UNEXPECTED)
        return STYLE_BAD;
    return outcome == CELL_AS_EXPECTED && cell->expected != EXPECT_BROKEN ? STYLE_GOOD
                                                                          : STYLE_WARN;
}

static void print_experiment(FILE *out, const struct comparison *c, size_t e)
{
    const char *plain = report_style(out, STYLE_PLAIN);
    char text[TEXT_MAX];

    fprintf(out, "\n%s%s%s: %s\n\n%-*s", report_style(out, STYLE_BOLD),
            c->experiments[e]->name, plain, c->experiments[e]->question, LOCK_WIDTH,
            "lock");
    for (size_t h = 0; h < c->hazard_count; h++)
        fprintf(out, "%-*s", CELL_WIDTH, c->hazards[h]->name);
    fputc('\n', out);
    for (size_t l = 0; l < c->lock_count; l++) {
        if (!experiment_takes(c->experiments[e], c->locks[l]))
            continue;
        fprintf(out, "%-*s", LOCK_WIDTH, c->locks[l]);
        for (size_t h = 0; h < c->hazard_count; h++) {
            const struct cell *cell = comparison_cell(c, e, h, l);

            cell_text(cell, text, sizeof text);
            fprintf(out, "%s%-*s%s", report_style(out, style_of(cell)), CELL_WIDTH,
                    text, plain);
        }
        fputc('\n', out);
    }
}

static void headline(const struct comparison *c, char *out, size_t size)
{
    size_t cells = comparison_planned(c), bad = comparison_count(c, CELL_UNEXPECTED);
    size_t unknown = comparison_count(c, CELL_UNKNOWN);
    size_t unjudged = comparison_count(c, CELL_NO_EXPECTATION);
    size_t missing = comparison_count(c, CELL_NOT_DONE);
    int n = snprintf(out, size, "%zu of %zu cells as expected",
                     comparison_count(c, CELL_AS_EXPECTED), cells);

    if (bad)
        n += snprintf(out + n, size - (size_t)n, ", %zu UNEXPECTED", bad);
    if (unknown)
        n += snprintf(out + n, size - (size_t)n, ", %zu unknown", unknown);
    if (unjudged)
        n += snprintf(out + n, size - (size_t)n, ", %zu without an expectation", unjudged);
    if (missing)
        snprintf(out + n, size - (size_t)n, ", %zu not done", missing);
}

/* The runs of a cell, with their directories, and the reason of each unknown run. */
static void print_runs(FILE *out, const struct cell *cell)
{
    for (int r = 0; r < cell->run_count; r++) {
        const struct run_record *run = &cell->runs[r];

        fprintf(out, "%s %s (%s)", r > 0 ? "," : "", run_outcome_name(run->outcome),
                run->dir);
        if (*run->reason)
            fprintf(out, ": %s", run->reason);
    }
}

/* Print a line for each cell that is not as expected. */
static void print_odd(FILE *out, const struct comparison *c, const char *bullet)
{
    for (size_t i = 0; i < comparison_cell_count(c); i++) {
        const struct cell *cell = &c->cells[i];
        enum cell_outcome outcome = cell_outcome_of(cell);

        if (cell->run_count == 0 || outcome == CELL_NOT_DONE ||
            outcome == CELL_AS_EXPECTED)
            continue;
        fprintf(out, "%s%s: %s, %s, %s: ", bullet, cell_outcome_name(outcome),
                cell->experiment->name, cell->hazard->name, cell->lock);
        if (outcome == CELL_NO_EXPECTATION)
            fprintf(out, "loadtest/expect/expectations.def has no row for this lock; runs:");
        else
            fprintf(out, "expected %s; runs:", expectation_name(cell->expected));
        print_runs(out, cell);
        fputc('\n', out);
    }
}

void compare_print(FILE *out, const struct comparison *c)
{
    char head[160];

    headline(c, head, sizeof head);
    fprintf(out, "%s%s%s%s\n",
            report_style(out,
                         comparison_count(c, CELL_UNEXPECTED) ? STYLE_BAD : STYLE_BOLD),
            head, report_style(out, STYLE_PLAIN),
            c->was_interrupted ? " (cut short)" : "");
    for (size_t e = 0; e < c->experiment_count; e++)
        if (comparison_planned_in(c, e) > 0)
            print_experiment(out, c, e);
    fputc('\n', out);
    print_odd(out, c, "");
    fprintf(out,
            "In each cell: the verdict, accepted orders per second, p99 of accepted "
            "orders.\n"
            "\"7 over\": seven orders beyond the stock.  \"7 twice\": seven second "
            "orders of a\n"
            "user.  \"!\": not what was expected.  \"?\": nothing is expected of this lock, so "
            "nothing\nwas judged.  The speed of a broken lock says nothing.\n"
            "The comparison took %.0f s.\n",
            (double)c->elapsed_ms / 1000);
}

static void markdown_experiment(FILE *out, const struct comparison *c, size_t e)
{
    char text[TEXT_MAX];

    fprintf(out, "\n## %s\n\n%c%s\n\nFlags:", c->experiments[e]->name,
            c->experiments[e]->question[0] - 'a' + 'A',
            c->experiments[e]->question + 1);
    for (const char *const *flag = c->experiments[e]->flags; *flag; flag++)
        fprintf(out, " `%s`", *flag);
    fputs("\n\n| lock |", out);
    for (size_t h = 0; h < c->hazard_count; h++)
        fprintf(out, " %s |", c->hazards[h]->name);
    fputs("\n|---|", out);
    for (size_t h = 0; h < c->hazard_count; h++)
        fputs("---|", out);
    fputc('\n', out);
    for (size_t l = 0; l < c->lock_count; l++) {
        if (!experiment_takes(c->experiments[e], c->locks[l]))
            continue;
        fprintf(out, "| `%s` |", c->locks[l]);
        for (size_t h = 0; h < c->hazard_count; h++) {
            const struct cell *cell = comparison_cell(c, e, h, l);
            enum cell_outcome outcome = cell_outcome_of(cell);
            bool odd = outcome == CELL_UNEXPECTED || outcome == CELL_NO_EXPECTATION;

            verdict_text(cell, text, sizeof text);
            if (strcmp(text, "-") == 0 || strcmp(text, "unknown") == 0) {
                fprintf(out, " %s |", text);
                continue;
            }
            fprintf(out, " %s%s%s%s%s%s, %.0f/s, p99 %.0f ms |", odd ? "**" : "",
                    odd ? cell_outcome_name(outcome) : "", odd ? "** " : "",
                    strcmp(text, "sound") == 0 ? "" : "**", text,
                    strcmp(text, "sound") == 0 ? "" : "**", cell_orders_per_s(cell),
                    cell_p99_ms(cell));
        }
        fputc('\n', out);
    }
}

static void markdown_method(FILE *out, const struct comparison *c)
{
    char lease[32], calm[32], machine[MACHINE_TEXT_MAX];

    fprintf(
        out,
        "\n## How it was measured\n\n"
        "- %s, which the load generator, the service, "
        "PostgreSQL "
        "and Redis share\n"
        "- %d service processes%s, wrk with %d connections, closed loop: a connection "
        "sends "
        "its next order when the last one was answered\n"
        "- `oversell` and `fencing` sell one voucher of %" PRId64
        "; `one-per-user` lets the same user "
        "order from all connections at once, for two vouchers in turn\n"
        "%s"
        "- in `fencing`, a cell of a hazard that breaks the lock is sound only if the fence "
        "refused a late write; in all other cells the lock itself holds, so they show that "
        "the fence refuses no write in time\n"
        "- lease %s under a hazard, %s when calm; PostgreSQL durable "
        "(`fsync=on`, `synchronous_commit=on`)\n"
        "- orders per second count from the start of the load until \"sold out\" was "
        "first "
        "heard; in `one-per-user` the turns of the users limit them\n"
        "- several runs of a cell: the most that was sold too much, the medians of the "
        "rest\n- the services sell with `--order-path=%s`%s\n- took %.0f s\n",
        machine_text(machine), c->processes, c->has_front ? " behind HAProxy" : "",
        c->connections, c->stock,
        c->processes > 1 ? "- `sound` needs at least two processes that sold an order, or refused "
                           "one by the lock or a guard behind it\n"
                         : "",
        duration_format(c->lease_ms, lease, sizeof lease),
        duration_format(c->calm_lease_ms, calm, sizeof calm), order_path_name_at(c->path),
        c->path == ORDER_PATH_stream
            ? "; a calm sale has a stock of 2560 at least, since a writer may sell 128 orders "
              "in one transaction, and a race needs two"
            : "",
        (double)c->elapsed_ms / 1000);
    fputs("\n## The hazards\n\n", out);
    for (size_t h = 0; h < c->hazard_count; h++)
        fprintf(out, "- `%s`: %s%s\n", c->hazards[h]->name, c->hazards[h]->does,
                c->hazards[h] == &hazard_check_gap
                    ? "; only `owner`, `watch` and `getset` have that gap, for the others "
                      "the run is like calm with the short lease"
                    : "");
}

bool compare_write_markdown(const struct comparison *c)
{
    char path[FILES_PATH_MAX], head[160], *text = NULL;
    size_t size = 0;
    FILE *out = result_page_stream(&text, &size);
    bool ok;

    headline(c, head, sizeof head);
    fprintf(out, "%s%s.  Begun %s.\n\n", head,
            c->was_interrupted ? "; the comparison was cut short" : "", c->started);
    print_odd(out, c, "- ");
    fputs("\"7 over\" is seven orders beyond the stock, \"7 twice\" seven second "
          "orders of a "
          "user; \"sound\" means that the audit found nothing.  How fast a broken lock "
          "is says "
          "nothing.\n",
          out);
    for (size_t e = 0; e < c->experiment_count; e++)
        if (comparison_planned_in(c, e) > 0)
            markdown_experiment(out, c, e);
    markdown_method(out, c);
    files_join(path, c->dir, "summary.md");
    ok = fclose(out) == 0 && result_page_write(path, "Which locks oversell", text);
    free(text);
    return ok;
}
