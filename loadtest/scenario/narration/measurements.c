/* SPDX-License-Identifier: MIT */
/* measurements.c -- a table of measurements: updates that were acknowledged, how many of
 * them were lost, and published figures beside them. */
#include "loadtest/scenario/narration/measurements.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/style.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/measure.h"

enum { TABLE_FORMAT = 1, SHARE_MAX = 64 };

static double share_of(const struct scenario_tally *t)
{
    return t->updates > 0 ? 100 * (double)t->lost / (double)t->updates : 0;
}

static const char *word_of(const struct scenario_result *r)
{
    return verdict_beside_expectation(scenario_verdict(r));
}

void table_sentence(FILE *out, const struct scenario_tally *t)
{
    double low, high;

    scenario_interval(t->lost, t->updates, &low, &high);
    fprintf(out,
            "%" PRId64 " of %" PRId64 " acknowledged updates lost: %.1f %%, 95 %% "
            "interval %.1f..%.1f %%; %d at work at once, the longest wait %.1f s",
            t->lost, t->updates, share_of(t), low, high, t->at_once,
            (double)t->longest_wait_ms / 1000);
}

void table_head(FILE *out, const struct scenario *scenario)
{
    fprintf(out, "%-12s %-12s %7s %6s %7s  %-14s %6s %8s %8s\n", "lock", "guard",
            "updates", "lost", "lost %", "95 % interval", "inside", "waited", "refused");
    fprintf(out, "%s\n", scenario->published);
    fflush(out);
}

void table_row(FILE *out, const struct scenario_setup *setup,
               const struct scenario_result *r)
{
    const struct scenario_tally *t = &r->tally;
    enum report_style style = r->rc == EXIT_VALID ? STYLE_GOOD : STYLE_BAD;
    char interval[SHARE_MAX];
    double low, high;

    scenario_interval(t->lost, t->updates, &low, &high);
    snprintf(interval, sizeof interval, "%.1f..%.1f", low, high);
    fprintf(out, "%-12s %-12s ", setup->lock->name, setup->guard->name);
    if (t->is_counted)
        fprintf(out, "%7" PRId64 " %6" PRId64 " %7.1f  %-14s %6d %6.1f s %8" PRId64,
                t->updates, t->lost, share_of(t), interval, t->at_once,
                (double)t->longest_wait_ms / 1000, t->stale);
    else
        fprintf(out, "%7s %6s %7s  %-14s %6s %8s %8s", "-", "-", "-", "-", "-", "-", "-");
    fprintf(out, "  %s%s%s%s%s\n", report_style(out, style), word_of(r),
            report_style(out, STYLE_PLAIN), r->why[0] != '\0' ? "  " : "", r->why);
    fflush(out);
}

static const char explanation[] =
    "updates: acknowledged by an answer to COMMIT, or unanswered and in the database.\n"
    "lost: those that are not in the number at the end.  The interval takes each loss by\n"
    "itself, but one pause may cost several.  inside: most that were at work under the\n"
    "lock at once.  waited: longest, by a client that was not paused itself.  refused:\n"
    "writes under an older fence.\n";

void table_foot(FILE *out)
{
    fprintf(out, "\n%s", explanation);
}

/* ---- files ---- */

static void markdown_row(FILE *out, const struct table_line *line)
{
    const struct scenario_tally *t = &line->result->tally;
    double low, high;

    scenario_interval(t->lost, t->updates, &low, &high);
    fprintf(out, "| `%s` | `%s` |", line->setup->lock->name, line->setup->guard->name);
    if (t->is_counted)
        fprintf(out, " %" PRId64 " | %" PRId64 " | %.1f %% | %.1f..%.1f %% | %d | %.1f s |"
                     " %" PRId64 " |",
                t->updates, t->lost, share_of(t), low, high, t->at_once,
                (double)t->longest_wait_ms / 1000, t->stale);
    else
        fputs(" | | | | | | |", out);
    fprintf(out, " %s%s%s |\n", word_of(line->result),
            line->result->why[0] != '\0' ? ": " : "", line->result->why);
}

static void print_markdown(FILE *out, const struct table_line *lines, size_t count,
                           int64_t duration_ms, uint64_t seed)
{
    const struct scenario *scenario = lines[0].setup->scenario;

    for (int i = 0; i < SCENARIO_LINES; i++)
        fprintf(out, "%s\n", scenario->story[i]);
    fprintf(out, "\nEach row took %.0f s, with seed %" PRIu64 ".  Published: %s.\n\n",
            (double)duration_ms / 1000, seed, scenario->published);
    fputs("| lock | guard | updates | lost | lost, % | 95 % interval | inside | waited |"
          " refused | outcome |\n|---|---|---|---|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < count; i++)
        markdown_row(out, &lines[i]);
    fprintf(out, "\n%s", explanation);
}

static json_t *row_json(const struct table_line *line)
{
    const struct scenario_result *r = line->result;
    const struct scenario_tally *t = &r->tally;
    double low, high;

    scenario_interval(t->lost, t->updates, &low, &high);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:f, s:f, s:f, s:i, s:I, s:I, s:I, "
        "s:I, s:I, s:I}",
        "lock", line->setup->lock->name, "guard", line->setup->guard->name, "outcome",
        scenario_outcome_name(r->outcome, false), "verdict", word_of(r), "why", r->why,
        "counted", t->is_counted, "acknowledged", (json_int_t)t->acknowledged, "updates",
        (json_int_t)t->updates, "lost", (json_int_t)t->lost, "lost_percent", share_of(t),
        "low_percent", low, "high_percent", high, "inside_at_once", t->at_once,
        "longest_wait_ms", (json_int_t)t->longest_wait_ms, "refused_stale",
        (json_int_t)t->stale, "not_done", (json_int_t)t->not_done, "not_granted",
        (json_int_t)t->not_granted, "pauses", (json_int_t)t->stops, "pauses_of_holders",
        (json_int_t)t->holders_stopped);
}

static bool write_json(const char *dir, const struct table_line *lines, size_t count,
                       int64_t duration_ms, uint64_t seed)
{
    json_t *rows = json_array(), *json;
    char path[FILES_PATH_MAX];
    bool ok;

    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, row_json(&lines[i]));
    json = json_pack("{s:i, s:s, s:s, s:I, s:I, s:o}", "format", TABLE_FORMAT, "scenario",
                     lines[0].setup->scenario->name, "published",
                     lines[0].setup->scenario->published, "duration_ms",
                     (json_int_t)duration_ms, "seed", (json_int_t)seed, "rows", rows);
    files_join(path, dir, "summary.json");
    ok = json != NULL && files_write_json(path, json);
    json_decref(json);
    return ok;
}

static bool write_markdown(const char *dir, const struct table_line *lines, size_t count,
                           int64_t duration_ms, uint64_t seed)
{
    char path[FILES_PATH_MAX], *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    bool ok;

    print_markdown(out, lines, count, duration_ms, seed);
    ok = fclose(out) == 0;
    files_join(path, dir, "summary.md");
    ok = ok && result_page_write(path, lines[0].setup->scenario->title, text);
    free(text);
    return ok;
}

bool table_write(const char *dir, const struct table_line *lines, size_t count,
                 int64_t duration_ms, uint64_t seed)
{
    if (write_json(dir, lines, count, duration_ms, seed) &&
        write_markdown(dir, lines, count, duration_ms, seed))
        return true;
    eprintf("seckill scenario: cannot write the table in %s: %s\n", dir, strerror(errno));
    return false;
}
