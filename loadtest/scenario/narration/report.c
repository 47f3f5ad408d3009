/* SPDX-License-Identifier: MIT */
/* report.c -- the report of a run: a line for each performance, the progress, and each
 * unexpected outcome. */

#include "loadtest/scenario/narration/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/style.h"
#include "loadtest/scenario/batch.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/narration/measurements.h"

enum { STORIES_FORMAT = 1, NEWS_MAX = 200 };

void performance_lock(const struct performance *p, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", p->setup->lock->name,
             p->setup->expected->guard != NULL ? "+" : "",
             p->setup->expected->guard != NULL ? p->setup->expected->guard->name : "");
}

int64_t batch_length_ms(const struct batch *t)
{
    return t->run->duration_ms > 0 ? t->run->duration_ms
                                   : t->all[0].setup->scenario->duration_ms;
}

/* Do all perform the same scenario? */
static bool is_one(const struct batch *t)
{
    for (size_t i = 1; i < t->count; i++)
        if (t->all[i].setup->scenario != t->all[0].setup->scenario)
            return false;
    return true;
}

/* ---- the table ---- */

static void print_file(const char *dir, const char *name)
{
    char path[FILES_PATH_MAX], *text;

    files_join(path, dir, name);
    text = files_read(path, NULL);
    if (text != NULL)
        why_print(stdout, text);
    free(text);
}

static const char *outcome_of(const struct batch *t, const struct scenario_result *r)
{
    return r->has_happened ? scenario_outcome_name(r->outcome, t->run->is_chinese)
                           : "did not happen";
}

static void print_row(const struct batch *t, const struct performance *p)
{
    const struct scenario_result *r = p->result;
    enum verdict verdict = scenario_verdict(r);
    char lock[80];

    performance_lock(p, lock, sizeof lock);
    printf("%-5s %-26s %-16s %-20s %s%-11s%s %5.1f s%s%s\n", p->setup->scenario->number,
           p->setup->scenario->name, lock, outcome_of(t, r),
           report_style(stdout, verdict_style(verdict)), verdict_beside_expectation(verdict),
           report_style(stdout, STYLE_PLAIN), (double)r->took_ns / 1e9,
           verdict == VERDICT_VALID ? "" : "  ", verdict == VERDICT_VALID ? "" : r->why);
    fflush(stdout);
}

static json_t *story_json(const struct performance *p)
{
    const struct scenario_setup *setup = p->setup;
    const struct scenario_result *r = p->result;
    enum verdict verdict = scenario_verdict(r);

    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:i, s:I, s:I, s:I}", "number",
        setup->scenario->number, "scenario", setup->scenario->name, "lock", setup->lock->name,
        "guard", setup->guard->name, "expected",
        scenario_outcome_name(setup->expected->outcome, false), "expected_signs",
        scenario_signs_json(setup->expected->shows), "verdict",
        verdict_beside_expectation(verdict), "outcome",
        verdict == VERDICT_UNKNOWN ? json_null()
                                   : json_string(scenario_outcome_name(r->outcome, false)),
        "signs", scenario_signs_json(r->signs), "why",
        verdict == VERDICT_VALID ? "" : r->why, "tries", r->tries, "took_ms",
        (json_int_t)(r->took_ns / 1000000), "holds", (json_int_t)r->holds, "faults",
        (json_int_t)r->faults);
}

/* ---- progress ---- */

/* "wrong-delete, lua and 2 more" */
static size_t name_going(const struct batch *t, char *out, size_t size)
{
    const struct performance *first = NULL;
    size_t going = 0;
    char lock[80], more[32] = "";

    for (size_t i = 0; i < t->count; i++) {
        if (t->all[i].is_done || t->all[i].child.pid == 0)
            continue;
        first = first ? first : &t->all[i];
        going++;
    }
    out[0] = '\0';
    if (!first)
        return 0;
    performance_lock(first, lock, sizeof lock);
    if (going > 1)
        snprintf(more, sizeof more, " and %zu more", going - 1);
    snprintf(out, size, "%s, %s%s", first->setup->scenario->name, lock, more);
    return going;
}

void batch_tell_news(struct batch *t)
{
    char title[NEWS_MAX], note[NEWS_MAX] = "";
    int64_t updates = 0;
    size_t going;

    if (!series_wants(t->run->series))
        return;
    going = name_going(t, title, sizeof title);
    for (size_t i = 0; i < t->count; i++)
        updates += t->all[i].result->tally.acknowledged;
    if (t->is_measured)
        snprintf(note, sizeof note, "%zu measured for %.0f s each; %" PRId64
                 " updates acknowledged",
                 going, (double)batch_length_ms(t) / 1000, updates);
    series_now(t->run->series, title, note);
    series_tick(t->run->series);
}

static void tell_series(const struct batch *t, const struct performance *p)
{
    enum verdict verdict = scenario_verdict(p->result);
    json_t *more = json_lines_are_on() ? story_json(p) : NULL;
    char lock[80], name[NEWS_MAX];

    performance_lock(p, lock, sizeof lock);
    snprintf(name, sizeof name, "%s, %s", p->setup->scenario->name, lock);
    if (more)
        json_object_update_new(
            more, json_pack("{s:s, s:o}", "run", name, "dir", json_lines_text(p->dir)));
    series_done(t->run->series, &verdict, p->result->took_ns / 1000000, more);
}

void batch_tell_end(const struct batch *t, const struct performance *p)
{
    series_hide(t->run->series);
    if (t->is_measured && t->count == 1)
        table_head(stdout, p->setup->scenario);
    if (t->is_measured)
        table_row(stdout, p->setup, p->result);
    else if (t->count > 1)
        print_row(t, p);
    tell_series(t, p);
}

/* "; an interrupt ended the run before the 3 other performances", or nothing */
static const char *cut_words(const struct batch *t, char out[NEWS_MAX])
{
    out[0] = '\0';
    if (t->cut_count > 0)
        snprintf(out, NEWS_MAX, "; an interrupt ended the run before the %zu other performances",
                 t->cut_count);
    return out;
}

void batch_sum_up(const struct batch *t)
{
    char cut[NEWS_MAX];
    size_t good = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct performance *p = &t->all[i];

        good += p->is_done && p->result->rc == EXIT_VALID;
        if (!p->is_done || p->result->rc == EXIT_VALID)
            continue;
        printf("\n---- %s\n", p->dir);
        print_file(p->dir, "story.txt");
    }
    printf("\n%zu of %zu as expected%s.  Kept in %s\n", good, t->count, cut_words(t, cut),
           t->run->out);
}

bool batch_write_table(const struct batch *t)
{
    struct table_line *lines = memory_need(calloc(t->count, sizeof *lines));
    bool ok;

    for (size_t i = 0; i < t->count; i++)
        lines[i] = (struct table_line){t->all[i].setup, t->all[i].result};
    table_foot(stdout);
    ok = table_write(t->run->out, lines, t->count, batch_length_ms(t), t->run->seed);
    free(lines);
    return ok;
}

/* The narration if there is one performance, otherwise a row for each. */
static void print_stories(FILE *out, const struct batch *t)
{
    const struct scenario *scenario = t->all[0].setup->scenario;
    char lock[80], cut[NEWS_MAX];

    for (int i = 0; i < SCENARIO_LINES && is_one(t); i++)
        fprintf(out, "%s\n",
                t->run->is_chinese ? scenario->story_zh[i] : scenario->story[i]);
    if (t->cut_count > 0)
        fprintf(out, "\n%zu performances%s.\n", t->count, cut_words(t, cut));
    fputs("\n| scenario | lock | outcome | verdict | time |\n|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < t->count; i++) {
        const struct scenario_result *r = t->all[i].result;
        enum verdict verdict = scenario_verdict(r);

        performance_lock(&t->all[i], lock, sizeof lock);
        fprintf(out, "| %s `%s` | `%s` | %s | %s%s%s | %.1f s |\n",
                t->all[i].setup->scenario->number, t->all[i].setup->scenario->name, lock,
                outcome_of(t, r), verdict_beside_expectation(verdict),
                verdict == VERDICT_VALID ? "" : ": ",
                verdict == VERDICT_VALID ? "" : r->why, (double)r->took_ns / 1e9);
    }
}

/* stories.json, for programs. */
static bool write_json(const struct batch *t)
{
    json_t *cells = json_array(), *json;
    char path[FILES_PATH_MAX];
    bool ok;

    for (size_t i = 0; i < t->count; i++)
        json_array_append_new(cells, story_json(&t->all[i]));
    json = json_pack("{s:i, s:I, s:o}", "format", STORIES_FORMAT, "seed",
                     (json_int_t)t->run->seed, "cells", cells);
    files_join(path, t->run->out, "stories.json");
    ok = json != NULL && files_write_json(path, json);
    if (!ok)
        eprintf("seckill scenario: cannot write %s: %s\n", path, strerror(errno));
    json_decref(json);
    return ok;
}

bool batch_write_stories(const struct batch *t)
{
    const struct scenario *scenario = t->all[0].setup->scenario;
    char path[FILES_PATH_MAX], *text = NULL;
    size_t size = 0;
    FILE *out = result_page_stream(&text, &size);
    bool ok;

    print_stories(out, t);
    ok = fclose(out) == 0;
    files_join(path, t->run->out, "summary.md");
    ok = ok && result_page_write(path,
                                 !is_one(t)             ? "Scenarios"
                                 : t->run->is_chinese ? scenario->title_zh
                                                      : scenario->title,
                                 text);
    free(text);
    return write_json(t) && ok;
}

bool batch_write_page(const struct batch *t)
{
    char **parts = memory_need(calloc(t->count, sizeof *parts));
    bool ok;

    for (size_t i = 0; i < t->count; i++) {
        parts[i] = memory_need(malloc(FILES_PATH_MAX));
        files_join(parts[i], t->all[i].dir[0] != '\0' ? t->all[i].dir : ".", "page.part");
    }
    ok = t->run->pages->write_page(t->run->html,
                                   is_one(t) ? t->all[0].setup->scenario->name
                                             : "all of them",
                                   parts, t->count);
    for (size_t i = 0; i < t->count; i++)
        free(parts[i]);
    free(parts);
    if (ok)
        printf("drawn in %s\n", t->run->html);
    return ok;
}
