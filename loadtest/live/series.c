/* SPDX-License-Identifier: MIT */
/* series.c -- the progress of a command of many pieces, as a block, as a line, as JSON. */
#include "loadtest/live/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/live_block.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/progress.h"
#include "loadtest/kit/style.h"
#include "loadtest/live/due.h"
#include "loadtest/live/text.h"
#include "loadtest/live/window.h"

enum { DRAW_MS = 200, LINE_MS = 15000, JSON_MS = 1000, BAR = 20, MINUTES_FROM_MS = 90000 };

struct series {
    struct series_options options;
    bool draws, prints; /* a block; lines of a log                                     */
    int64_t begin_ns, drawn_ns, printed_ns, told_ns;
    char title[LIVE_TITLE_MAX], note[LIVE_TITLE_MAX];
    size_t done;
    struct verdict_counts verdicts;
    int64_t lengths[BUCKETS]; /* durations of the pieces                                 */
    bool has_load;
    int64_t load_ns; /* when it began                                                  */
    struct live_window window;
    double last_per_s, last_p99_ms; /* of the load before; -1: none has ended            */
};

/* ---- texts ---- */

static int64_t elapsed_ms(const struct series *s)
{
    return (monotonic_ns() - s->begin_ns) / 1000000;
}

/* Until the last piece has ended, or until none begins any more; -1: not known. */
static int64_t left_ms(const struct series *s)
{
    int64_t elapsed = elapsed_ms(s), limit = s->options.limit_ms,
            left = progress_left_ms(s->done, s->options.count, elapsed);

    if (limit == 0)
        return left;
    limit = elapsed < limit ? limit - elapsed : 0;
    return left < 0 || left > limit ? limit : left;
}

static void add_left(const struct series *s, char *out)
{
    int64_t left = left_ms(s);

    if (left >= MINUTES_FROM_MS)
        live_add(out, ", about %" PRId64 " min left", (left + 59999) / 60000);
    else if (left >= 0)
        live_add(out, ", about %" PRId64 " s left", (left + 999) / 1000);
}

static void add_done(const struct series *s, char *out)
{
    live_add(out, "%zu of %zu %s%s done", s->done, s->options.count, s->options.piece,
        s->options.count == 1 ? "" : "s");
    add_left(s, out);
}

/* "4 as expected, 1 UNEXPECTED"; false: nothing was judged yet. */
static bool add_verdicts(const struct series *s, char *out, FILE *styled)
{
    const char *const names[VERDICT_COUNT] = {[VERDICT_VALID] = s->options.good,
                                              [VERDICT_UNKNOWN] = "unknown",
                                              [VERDICT_INVALID] = s->options.bad};
    static const enum verdict order[] = {VERDICT_VALID, VERDICT_INVALID, VERDICT_UNKNOWN};
    bool is_first = true;

    for (int i = 0; i < VERDICT_COUNT; i++) {
        int64_t n = s->verdicts.of[order[i]];

        if (n == 0)
            continue;
        live_add(out, "%s%s%" PRId64 " %s%s", is_first ? "" : ", ",
            styled ? report_style(styled, verdict_style(order[i])) : "", n, names[order[i]],
            styled ? report_style(styled, STYLE_PLAIN) : "");
        is_first = false;
    }
    return !is_first;
}

static double per_min(const struct series *s)
{
    int64_t elapsed = elapsed_ms(s);

    return s->done == 0 || elapsed == 0 ? -1 : (double)s->done * 60000 / (double)elapsed;
}

static void look_at_load(const struct series *s, struct live_view *view)
{
    memset(view, 0, sizeof *view);
    view->per_s = view->p99_ms = view->all_per_s = view->all_p99_ms = -1;
    if (s->has_load)
        live_window_look(&s->window, s->load_ns, view);
}

static void add_speed(const struct series *s, char *out)
{
    struct live_view view;

    look_at_load(s, &view);
    if (s->has_load && view.per_s >= 0)
        live_add(out, "orders   %.0f a second now, %.0f on average\n", view.per_s, view.all_per_s);
    if (s->has_load && view.p99_ms >= 0)
        live_add(out, "p99      about %.0f ms now, %.0f ms since the start\n", view.p99_ms,
            view.all_p99_ms);
    if (s->last_per_s >= 0)
        live_add(out, "before   %.0f orders a second, p99 %.1f ms\n", s->last_per_s,
            s->last_p99_ms);
    if (per_min(s) >= 0)
        live_add(out,
            "rate     %.3g %ss a minute; half of them took at most %.1f s, "
            "99 %% at most %.1f s\n",
            per_min(s), s->options.piece, buckets_quantile_ms(s->lengths, 0.5) / 1000,
            buckets_quantile_ms(s->lengths, 0.99) / 1000);
}

static void add_trouble(char *out)
{
    double load = progress_load();

    if (progress_is_busy(load))
        live_add(out, "%strouble  slow: the load is %.0f on %ld processors%s\n",
            report_style(stderr, STYLE_WARN), load, sysconf(_SC_NPROCESSORS_ONLN),
            report_style(stderr, STYLE_PLAIN));
}

static void write_block(const struct series *s, char out[LIVE_TEXT_MAX])
{
    int full = s->options.count > 0 ? (int)(s->done * BAR / s->options.count) : BAR;

    out[0] = '\0';
    live_add(out, "%s%s%s\n[%.*s%.*s] ", report_style(stderr, STYLE_BOLD),
        *s->title ? s->title : "starting", report_style(stderr, STYLE_PLAIN), full,
        "####################", BAR - full, "--------------------");
    add_done(s, out);
    live_add(out, "\nso far   ");
    if (!add_verdicts(s, out, stderr))
        live_add(out, "nothing is judged yet");
    live_add(out, "\n");
    add_speed(s, out);
    if (*s->note)
        live_add(out, "now      %s\n", s->note);
    add_trouble(out);
}

static void write_line(const struct series *s, char out[LIVE_TEXT_MAX])
{
    struct live_view view;

    look_at_load(s, &view);
    out[0] = '\0';
    live_add(out, "seckill %s: %s: %.0f s, ", s->options.command, *s->title ? s->title : "starting",
        (double)elapsed_ms(s) / 1000);
    add_done(s, out);
    live_add(out, "; ");
    live_add(out, "%s", add_verdicts(s, out, NULL) ? " so far" : "nothing is judged yet");
    if (view.per_s >= 0)
        live_add(out, "; %.0f orders a second", view.per_s);
    if (view.p99_ms >= 0)
        live_add(out, ", p99 about %.0f ms", view.p99_ms);
    if (s->last_per_s >= 0)
        live_add(out, "; before: %.0f orders a second, p99 %.1f ms", s->last_per_s, s->last_p99_ms);
    if (per_min(s) >= 0)
        live_add(out, "; %.3g %ss a minute", per_min(s), s->options.piece);
    if (*s->note)
        live_add(out, "; %s", s->note);
    if (progress_is_busy(progress_load()))
        live_add(out, "; slow: the load is %.0f on %ld processors", progress_load(),
            sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- JSON ---- */

/* "as-expected" if all pieces so far are, else the worst; null: nothing was judged yet. */
static json_t *so_far(const struct series *s)
{
    int64_t judged = 0;

    for (int i = 0; i < VERDICT_COUNT; i++)
        judged += s->verdicts.of[i];
    if (judged == 0)
        return json_null();
    switch (verdict_worst(&s->verdicts)) {
    case VERDICT_VALID:
        return json_string("as-expected");
    case VERDICT_INVALID:
        return json_string("unexpected");
    default:
        return json_string("unknown");
    }
}

static json_t *counts_json(const struct series *s)
{
    int64_t left = left_ms(s);

    return json_pack("{s:I, s:I, s:o, s:I, s:I, s:I, s:o}", "done", (json_int_t)s->done, "planned",
                     (json_int_t)s->options.count, "left_ms",
                     left < 0 ? json_null() : json_integer(left), "as_expected",
                     (json_int_t)s->verdicts.of[VERDICT_VALID], "unexpected",
                     (json_int_t)s->verdicts.of[VERDICT_INVALID], "unknown",
                     (json_int_t)s->verdicts.of[VERDICT_UNKNOWN], "verdict_so_far", so_far(s));
}

static json_t *progress_json(const struct series *s)
{
    json_t *json = counts_json(s);
    struct live_view view;

    look_at_load(s, &view);
    json_object_update_new(
        json, json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "run", s->title,
                        "note", s->note, "elapsed_ms", (json_int_t)elapsed_ms(s), "per_min",
                        live_number_json(per_min(s)), "took_p50_ms",
                        live_number_json(buckets_quantile_ms(s->lengths, 0.5)), "took_p99_ms",
                        live_number_json(buckets_quantile_ms(s->lengths, 0.99)), "orders_per_s",
                        live_number_json(view.per_s), "p99_ms", live_number_json(view.p99_ms),
                        "last_orders_per_s", live_number_json(s->last_per_s), "last_p99_ms",
                        live_number_json(s->last_p99_ms)));
    return json;
}

/* ---- the series ---- */

struct series *series_open(const struct series_options *options)
{
    struct series *s = memory_need(calloc(1, sizeof *s));

    s->options = *options;
    s->draws = !options->is_quiet && !options->is_told && live_block_is_possible();
    s->prints = !options->is_quiet && !options->is_told && !s->draws;
    s->begin_ns = s->printed_ns = monotonic_ns();
    s->last_per_s = s->last_p99_ms = -1;
    return s;
}

void series_close(struct series *s)
{
    series_hide(s);
    free(s);
}

bool series_wants(const struct series *s)
{
    return s && (s->draws || s->prints || json_lines_are_on()) &&
           monotonic_ns() - s->drawn_ns >= DRAW_MS * INT64_C(1000000);
}

void series_now(struct series *s, const char *title, const char *note)
{
    if (!s)
        return;
    snprintf(s->title, sizeof s->title, "%s", title);
    snprintf(s->note, sizeof s->note, "%s", note);
}

void series_load_begins(struct series *s)
{
    if (!s)
        return;
    s->has_load = true;
    s->load_ns = monotonic_ns();
    live_window_begin(&s->window);
}

void series_load_ends(struct series *s)
{
    if (s)
        s->has_load = false;
}

bool series_wants_counts(const struct series *s)
{
    return s && s->has_load && live_window_is_due(&s->window);
}

void series_feed(struct series *s, const struct live_counts *counts)
{
    if (s && s->has_load)
        live_window_tell(&s->window, counts);
}

void series_measured(struct series *s, double per_s, double p99_ms)
{
    if (!s)
        return;
    s->last_per_s = per_s;
    s->last_p99_ms = p99_ms;
}

void series_tick(struct series *s)
{
    char text[LIVE_TEXT_MAX];

    if (!s || !live_is_due(&s->drawn_ns, DRAW_MS))
        return;
    if (s->draws) {
        write_block(s, text);
        live_block_draw(text);
    }
    if (s->prints && live_is_due(&s->printed_ns, LINE_MS))
        series_line(s);
    if (json_lines_are_on() && live_is_due(&s->told_ns, JSON_MS))
        json_lines_write("progress", progress_json(s));
}

void series_line(struct series *s)
{
    char text[LIVE_TEXT_MAX];

    if (!s || !s->prints)
        return;
    s->printed_ns = monotonic_ns();
    write_line(s, text);
    fprintf(stderr, "%s\n", text);
}

void series_hide(struct series *s)
{
    if (s && s->draws)
        live_block_hide();
}

void series_done(struct series *s, const enum verdict *verdict, int64_t took_ms, json_t *more)
{
    json_t *json;

    if (!s) {
        json_decref(more);
        return;
    }
    s->done++;
    if (verdict)
        verdict_count(&s->verdicts, *verdict);
    s->lengths[bucket_of_us((uint64_t)took_ms * 1000)]++;
    if (json_lines_are_on()) {
        json = counts_json(s);
        json_object_update_new(json, json_pack("{s:s, s:I}", "run", s->title, "took_ms",
                                               (json_int_t)took_ms));
        if (more)
            json_object_update(json, more);
        json_lines_write("run", json);
    }
    json_decref(more);
}

void series_end(const struct series *s, int exit_status, const char *dir)
{
    if (!s || !json_lines_are_on())
        return;
    json_lines_write("end",
                     json_pack("{s:i, s:o, s:I, s:I, s:I, s:I}", "exit", exit_status, "dir",
                               json_lines_text(dir), "as_expected",
                               (json_int_t)s->verdicts.of[VERDICT_VALID], "unexpected",
                               (json_int_t)s->verdicts.of[VERDICT_INVALID], "unknown",
                               (json_int_t)s->verdicts.of[VERDICT_UNKNOWN], "not_done",
                               (json_int_t)(s->options.count - s->done)));
}
