/* SPDX-License-Identifier: MIT */
/* report.c -- the page of a report, from its head to the data inside it. */
#include "loadtest/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "gen/report_html.h"
#include "loadtest/kit/memory.h"
#include "loadtest/page/page.h"
#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

static const char title_mark[] = "<!--TITLE-->", content_mark[] = "<!--CONTENT-->\n";

/* As "2026-01-31 12:00 UTC" of what data.json or summary.json has. */
static const char *started_of(const struct run_data *data)
{
    const json_t *results = json_object_get(data->json, "results");
    const char *started = json_text(data->json, "started");

    if (*started == '\0')
        started = json_text(json_object_get(results, "summary"), "started");
    return *started ? started : json_text(json_object_get(results, "matrix"), "started");
}

static void print_name(const struct run_data *data, char *out, size_t size)
{
    const char *kind = json_text(data->json, "kind");

    snprintf(out, size, "seckill %.40s", *kind ? kind : "?");
}

static void print_title(FILE *out, const struct run_data *a, const struct run_data *b)
{
    char name[64], took[FIGURE_MAX];

    print_name(a, name, sizeof name);
    fputs("<header class=\"row\"><h1>", out);
    if (b)
        say(out, TITLE_TWO, name);
    else
        say(out, TITLE, name);
    fputs("</h1>", out);
    if (!b && *started_of(a)) {
        figure((double)json_whole(a->json, "elapsed_ms") / 1000, took);
        fputs("<span class=\"soft\">", out);
        say(out, BEGUN, started_of(a), took);
        fputs("</span>", out);
    }
    fputs("<span class=\"tools\"></span></header>\n", out);
}

/* The footer of each printed page: only letters that a style sheet takes as they are. */
static void print_stamp(FILE *out, const struct run_data *data)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:. ";
    char text[256];

    snprintf(text, sizeof text, "seckill %.20s %.40s commit %.40s", json_text(data->json, "kind"),
             started_of(data), json_text(data->json, "commit"));
    for (char *at = text; *at; at++)
        if (!strchr(plain, *at))
            *at = '.';
    fprintf(out, "<style>@page { @bottom-left { content: \"%s\"; font-size: 8pt; } "
                 "@bottom-right { content: counter(page) \" / \" counter(pages); font-size: 8pt; } "
                 "}</style>\n",
            text);
}

static void print_data(FILE *out, const char *id, const struct run_data *data)
{
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    page_json(out, data->json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputs("</script>\n", out);
}

static void print_limits(FILE *out, bool is_remote)
{
    say_section(out, "limits", WORD_LIMITS);
    fputs("<ul class=\"plain\"><li>", out);
    if (!is_remote) {
        say(out, LIMIT_MACHINE);
        fputs("</li><li>", out);
    }
    say(out, LIMIT_RUNS);
    fputs("</li><li>", out);
    say(out, LIMIT_CLOSED);
    fputs("</li></ul></section>\n", out);
}

static void print_repeat(FILE *out, const struct run_data *a, const struct run_data *b)
{
    say_section(out, "repeat", WORD_REPEAT);
    part_command(out, a);
    if (b)
        part_command(out, b);
    fputs("</section>\n", out);
}

static void print_one(FILE *out, const struct run_data *data, const struct view *view)
{
    part_verdict(out, data, view);
    part_problems(out, data, "");
    part_thresholds(out, data);
    part_table(out, data, view);
    part_lists(out, data, view);
    part_timeline(out, data, view);
    part_latency(out, data, view);
    part_stopped(out, data, view);
    print_repeat(out, data, NULL);
    part_origin(out, data);
}

void report_print(FILE *out, const struct run_data *a, const struct run_data *b)
{
    struct view view_a, view_b = {0};

    view_make(&view_a, a);
    if (b)
        view_make(&view_b, b);
    page_piece(out, REPORT_HTML, NULL, title_mark);
    fputs(b ? "Two runs of seckill" : "Report of seckill", out);
    page_piece(out, REPORT_HTML, title_mark, content_mark);
    print_stamp(out, b ? b : a);
    print_title(out, a, b);
    if (b) {
        part_differences(out, a, b, &view_a, &view_b);
        print_repeat(out, a, b);
    } else {
        print_one(out, a, &view_a);
    }
    print_limits(out, view_is_remote(a));
    fputs("<footer>", out);
    say(out, RAW);
    fputs("</footer>\n", out);
    print_data(out, b ? "data-a" : "data", a);
    if (b)
        print_data(out, "data-b", b);
    page_piece(out, REPORT_HTML, content_mark, NULL);
    view_free(&view_a);
    view_free(&view_b);
}

void report_tell_problems(const struct run_data *data)
{
    for (size_t i = 0; i < data->problem_count; i++) {
        static const char *const what[] = {"no data of a run", "damaged, left out", "missing",
                                           "a run of another format"};

        eprintf("seckill report: %s: %s: %s\n", data->dir,
                what[data->problems[i].kind], data->problems[i].text);
    }
}

/* The end of the program says whether standard output could be written. */
static void print_page(FILE *page, char **text)
{
    if (fclose(page) != 0)
        abort(); /* there is no memory */
    (void)fputs(*text, stdout);
    free(*text);
}

enum exit_code report_write(const char *path, const struct run_data *a, const struct run_data *b)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    bool ok = true;

    report_print(out, a, b);
    if (path)
        ok = page_keep(out, &text, path, "seckill report");
    else
        print_page(out, &text);
    report_tell_problems(a);
    if (b)
        report_tell_problems(b);
    return !ok                                               ? EXIT_CANNOT_WRITE
           : a->problem_count > 0 || (b && b->problem_count) ? EXIT_UNKNOWN
                                                             : EXIT_VALID;
}
