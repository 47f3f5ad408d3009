/* SPDX-License-Identifier: MIT */
/* strip.c -- the verdict in one sentence, first of all. */
#include <stdlib.h>
#include <string.h>

#include "base/text/exit_codes.h"
#include "loadtest/page/scene.h"
#include "loadtest/report/data.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

enum { CHECKS_MAX = 400 };

static const char *whole(size_t value, char out[FIGURE_MAX])
{
    return figure_whole((int64_t)value, out);
}

/* The names of the checks that found something, or of those whose result is not known. */
static void list_checks(const json_t *verdict, bool is_unknown, char out[CHECKS_MAX])
{
    const json_t *checks = json_object_get(verdict, "checks"), *check;
    const char *name;

    snprintf(out, CHECKS_MAX, "?"); /* a file can have a verdict without its checks */
    json_object_foreach((json_t *)checks, name, check)
    {
        const json_t *valid = json_object_get(check, "valid");
        size_t used = *out == '?' ? 0 : strlen(out);

        if (!json_is_true(valid) && json_is_false(valid) != is_unknown)
            snprintf(out + used, CHECKS_MAX - used, "%s%s", used ? ", " : "", name);
    }
}

static void say_unknown(FILE *out, const json_t *verdict)
{
    char unsure[FIGURE_MAX], unknown[CHECKS_MAX];

    list_checks(verdict, true, unknown);
    figure_whole(json_whole(verdict, "unsure"), unsure);
    if (!sale_has_evidence(verdict))
        say(out, LOAD_NO_EVIDENCE);
    else if (json_whole(verdict, "unsure") > 0)
        say(out, LOAD_UNKNOWN, unsure);
    else
        say(out, LOAD_UNKNOWN_CHECKS, unknown);
}

static void verdict_of_load(FILE *out, const struct run_data *data, const struct view_cell *cell)
{
    const json_t *verdict = json_object_get(view_sale(data, cell->dir), "verdict");
    char orders[FIGURE_MAX], issued[FIGURE_MAX], left[FIGURE_MAX], excess[FIGURE_MAX];
    char found[CHECKS_MAX];

    figure_whole(json_whole(verdict, "orders"), orders);
    figure_whole(json_whole(verdict, "issued"), issued);
    figure_whole(json_whole(verdict, "left"), left);
    figure_whole(cell->excess, excess);
    list_checks(verdict, false, found);
    if (cell->mark == CELL_MARK_SOUND)
        say(out, LOAD_VALID, orders, issued);
    else if (!verdict)
        say(out, LOAD_NO_VERDICT);
    else if (cell->mark == CELL_MARK_UNKNOWN)
        say_unknown(out, verdict);
    else if (cell->mark == CELL_MARK_WRONG)
        say(out, LOAD_INVALID, found);
    else if (cell->excess > 0 && cell->is_per_user)
        say(out, LOAD_DUPLICATE, excess);
    else if (cell->excess > 0)
        say(out, LOAD_OVERSOLD, excess, orders, issued);
    else
        say(out, LOAD_LOST, orders, issued, left);
}

static void verdict_of_cells(FILE *out, const struct view *view)
{
    size_t unexpected = view_unexpected(view), unknown = 0, not_done = 0, broken;
    char a[FIGURE_MAX], b[FIGURE_MAX], c[FIGURE_MAX];

    for (size_t i = 0; i < view->count; i++) {
        unknown += view->cells[i].is_unknown || view->cells[i].has_no_expectation;
        not_done += view->cells[i].is_not_done;
    }
    broken = view_count(view, CELL_MARK_BROKEN) + view_count(view, CELL_MARK_WRONG);
    whole(view->count, b);
    if (unexpected)
        say(out, CELLS_UNEXPECTED, whole(unexpected, a), b);
    else if (unknown && not_done)
        say(out, CELLS_UNKNOWN_NOT_DONE, whole(unknown, a), b, whole(not_done, c));
    else if (unknown)
        say(out, CELLS_UNKNOWN, whole(unknown, a), b);
    else if (not_done)
        say(out, CELLS_NOT_DONE, whole(not_done, a), b);
    else
        say(out, CELLS_EXPECTED, b, whole(view_count(view, CELL_MARK_SOUND), a),
            whole(broken, c));
}

static void verdict_of_stories(FILE *out, const struct view *view)
{
    size_t unexpected = view_unexpected(view);
    size_t others = view->count - view_count(view, CELL_MARK_SOUND) - unexpected;
    char a[FIGURE_MAX], b[FIGURE_MAX];

    whole(view->count, b);
    if (unexpected)
        say(out, STORIES_UNEXPECTED, whole(unexpected, a), b);
    else if (others)
        say(out, STORIES_UNKNOWN, whole(others, a), b);
    else
        say(out, STORIES_EXPECTED, b);
}

static void verdict_of_targets(FILE *out, const struct run_data *data, const struct view *view)
{
    const json_t *locks = json_object_get(json_object_get(data->json, "results"), "bench_locks");
    int64_t targets = json_whole(locks, "targets"), missed = json_whole(locks, "missed");
    char a[FIGURE_MAX], b[FIGURE_MAX];

    if (!locks) {
        missed = (int64_t)view_count(view, CELL_MARK_WRONG);
        targets = missed + (int64_t)view_count(view, CELL_MARK_SOUND);
    }
    figure_whole(missed, a);
    figure_whole(targets, b);
    if (missed > 0)
        say(out, TARGETS_MISSED, a, b);
    else if (targets > 0)
        say(out, TARGETS_REACHED, b);
    else
        say(out, NO_TARGETS);
}

/* "good", "bad" or "doubt", as the sentence begins with. */
static const char *class_of(const char *sentence)
{
    const char *text = strchr(sentence, '>');

    text = text ? text + 1 : sentence;
    return strncmp(text, "✓", strlen("✓")) == 0   ? "good"
           : strncmp(text, "✗", strlen("✗")) == 0 ? "bad"
                                                  : "doubt";
}

/* Print the exit status in words.  A missed threshold is as conspicuous as the verdict, because the
 * verdict does not contain it. */
static void print_exit(FILE *out, int code)
{
    static const struct {
        enum exit_code code;
        enum word word;
    } meanings[] = {{EXIT_INVALID, WORD_EXIT_INVALID},
                    {EXIT_UNKNOWN, WORD_EXIT_UNKNOWN},
                    {EXIT_THRESHOLD, WORD_EXIT_THRESHOLD},
                    {EXIT_INTERRUPTED, WORD_EXIT_INTERRUPTED}};
    enum word word = WORD_EXIT_OTHER;
    char status[FIGURE_MAX];

    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if ((int)meanings[i].code == code)
            word = meanings[i].word;
    fprintf(out, "<p class=\"%s\">", code == EXIT_THRESHOLD ? "bad" : "soft");
    fputs(code == EXIT_THRESHOLD ? "<b>" : "", out);
    say_words(out, word, (const char *const[]){""});
    fputs(code == EXIT_THRESHOLD ? "</b> (" : " (", out);
    say(out, EXIT, figure_whole(code, status));
    fputc(')', out);
    if (code == EXIT_INTERRUPTED) {
        fputc(' ', out);
        say(out, CUT_SHORT);
    }
    fputs("</p>\n", out);
}

void part_verdict(FILE *out, const struct run_data *data, const struct view *view)
{
    char *sentence = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&sentence, &size);
    const json_t *exit_status = json_object_get(data->json, "exit");

    if (!text)
        abort();
    if (strncmp(view->kind, "bench", 5) == 0)
        verdict_of_targets(text, data, view);
    else if (view->count == 0)
        say(text, NO_DATA);
    else if (strcmp(view->kind, "load") == 0)
        verdict_of_load(text, data, &view->cells[0]);
    else if (strcmp(view->kind, "compare") == 0)
        verdict_of_cells(text, view);
    else
        verdict_of_stories(text, view);
    fclose(text);
    fprintf(out, "<p class=\"verdict %s\" role=\"status\">%s</p>\n", class_of(sentence), sentence);
    free(sentence);
    if (exit_status && json_whole(data->json, "exit") != EXIT_VALID)
        print_exit(out, (int)json_whole(data->json, "exit"));
}

void part_problems(FILE *out, const struct run_data *data, const char *whose)
{
    if (data->problem_count == 0)
        return;
    fputs("<section class=\"problems\" role=\"note\"><h2>", out);
    say(out, PROBLEMS);
    if (*whose) {
        fputs(": ", out);
        page_text(out, whose);
    }
    fputs("</h2>\n<ul>\n", out);
    for (size_t i = 0; i < data->problem_count; i++) {
        const char *text = data->problems[i].text;

        fputs("<li>", out);
        switch (data->problems[i].kind) {
        case DATA_NONE_THERE:
            say(out, PROBLEM_NONE, text);
            break;
        case DATA_DAMAGED:
            say(out, PROBLEM_DAMAGED, text);
            break;
        case DATA_MISSING:
            say(out, PROBLEM_MISSING, text);
            break;
        case DATA_OTHER:
            say(out, PROBLEM_OTHER, text);
            break;
        }
        fputs("</li>\n", out);
    }
    fputs("</ul></section>\n", out);
}
