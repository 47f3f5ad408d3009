/* SPDX-License-Identifier: MIT */
/* view.c -- the state of a running load as a block, as a line, as JSON. */
#include "loadtest/live/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/style.h"
#include "loadtest/live/text.h"

enum { BAR = 20, SILENT_MS = 2000 };

static const char *const phases[] = {
    [LIVE_STARTING] = "starting",
    [LIVE_SELLING] = "selling",
    [LIVE_DRAINING] = "draining",
    [LIVE_JUDGING] = "judging",
};

static const char *const phase_words[] = {
    [LIVE_STARTING] = "starting the service",
    [LIVE_SELLING] = "selling",
    [LIVE_DRAINING] = "waiting for the last answers",
    [LIVE_JUDGING] = "reading the database for the audit",
};

static int64_t left_ms(const struct live_view *view)
{
    if (view->limit_ms == 0 || view->phase != LIVE_SELLING)
        return -1;
    return view->elapsed_ms < view->limit_ms ? view->limit_ms - view->elapsed_ms : 0;
}

/* "sound", "broken"; NULL: not counted yet. */
static const char *verdict_of(const struct live_view *view)
{
    const struct sale_seen *seen = &view->seen;

    if (!seen->is_known)
        return NULL;
    return seen->oversold > 0 || seen->doubles > 0 || seen->lost > 0 ? "broken" : "sound";
}

static double seconds(int64_t ms)
{
    return (double)ms / 1000;
}

/* Rounded up. */
static int64_t whole_seconds(int64_t ms)
{
    return (ms + 999) / 1000;
}

static void add_time(const struct live_view *view, char *out)
{
    int64_t left = left_ms(view);
    int full = view->limit_ms > 0 ? (int)(view->elapsed_ms * BAR / view->limit_ms) : 0;

    if (full > BAR)
        full = BAR;
    if (left < 0) {
        live_add(out, "%s, %.1f s\n", phase_words[view->phase], seconds(view->elapsed_ms));
        return;
    }
    live_add(out, "[%.*s%.*s] at most %" PRId64 " s left\n", full, "####################",
        BAR - full, "--------------------", whole_seconds(left));
}

static void add_speed(const struct live_view *view, char *out)
{
    if (view->all_per_s < 0)
        live_add(out, "orders   none yet\n");
    else
        live_add(out, "orders   %.0f a second now, %.0f on average; %" PRId64 " accepted, %" PRId64
                 " sold out\n",
            view->per_s, view->all_per_s, view->accepted, view->sold_out);
    if (view->p99_ms >= 0)
        live_add(out, "p99      about %.0f ms now, %.0f ms since the start\n", view->p99_ms,
            view->all_p99_ms);
    else if (view->all_p99_ms >= 0)
        live_add(out, "p99      no order is accepted now; about %.0f ms since the start\n",
            view->all_p99_ms);
    else
        live_add(out, "p99      no order was accepted yet\n");
}

static void add_trouble(const struct live_view *view, char *out)
{
    const char *warn = report_style(stderr, STYLE_WARN), *plain = report_style(stderr, STYLE_PLAIN);

    if (view->silent_ms >= SILENT_MS && view->phase == LIVE_SELLING)
        live_add(out, "%strouble  no answer for %.0f s%s\n", warn, seconds(view->silent_ms), plain);
    if (view->dead > 0)
        live_add(out, "%strouble  %d seckilld %s ended%s\n", warn, view->dead,
            view->dead == 1 ? "process has" : "processes have", plain);
}

static void add_finding(char *out, int64_t count, const char *what)
{
    if (count > 0)
        live_add(out, " %" PRId64 " %s,", count, what);
}

/* ": 630 over, 12 lost, 730 of 100 sold" */
static void add_findings(const struct live_view *view, char *out)
{
    const struct sale_seen *seen = &view->seen;

    live_add(out, ":");
    add_finding(out, seen->oversold, "over");
    add_finding(out, seen->doubles, "twice");
    add_finding(out, seen->lost, "lost");
    live_add(out, " %" PRId64 " of %" PRId64 " sold", seen->orders, seen->issued);
}

static void add_verdict(const struct live_view *view, char *out)
{
    const char *verdict = verdict_of(view);
    bool is_broken = verdict && strcmp(verdict, "broken") == 0;

    if (!verdict) {
        live_add(out, "so far   not counted in the database yet\n");
        return;
    }
    live_add(out, "so far   %s%s%s",
        report_style(stderr, is_broken ? STYLE_BAD : STYLE_GOOD), verdict,
        report_style(stderr, STYLE_PLAIN));
    add_findings(view, out);
    live_add(out, " (%.1f s ago)\n", seconds((monotonic_ns() - view->seen.seen_ns) / 1000000));
}

void live_view_block(const struct live_view *view, char out[LIVE_TEXT_MAX])
{
    out[0] = '\0';
    live_add(out, "%s", view->above);
    if (!view->runs)
        return;
    live_add(out, "%s%s%s\n", report_style(stderr, STYLE_BOLD), view->title,
        report_style(stderr, STYLE_PLAIN));
    add_time(view, out);
    if (view->phase != LIVE_STARTING) {
        add_verdict(view, out);
        add_speed(view, out);
    }
    add_trouble(view, out);
    live_add(out, "%s", view->below);
}

void live_view_line(const struct live_view *view, char out[LIVE_TEXT_MAX])
{
    const char *verdict = verdict_of(view);
    int64_t left = left_ms(view);

    out[0] = '\0';
    live_add(out, "seckill %s: %s: %s, %.0f s", view->command, view->title,
        phase_words[view->phase], seconds(view->elapsed_ms));
    if (left >= 0)
        live_add(out, ", at most %" PRId64 " s left", whole_seconds(left));
    if (view->phase == LIVE_STARTING)
        return;
    live_add(out, "; %s", verdict ? verdict : "not counted");
    if (verdict)
        live_add(out, " so far");
    if (verdict)
        add_findings(view, out);
    if (view->all_per_s >= 0)
        live_add(out, "; %.0f orders a second", view->per_s);
    if (view->p99_ms >= 0)
        live_add(out, ", p99 about %.0f ms", view->p99_ms);
    if (view->silent_ms >= SILENT_MS && view->phase == LIVE_SELLING)
        live_add(out, "; no answer for %.0f s", seconds(view->silent_ms));
    if (view->dead > 0)
        live_add(out, "; %d seckilld ended", view->dead);
}

json_t *live_number_json(double value)
{
    return value < 0 ? json_null() : json_real(value);
}

static json_t *seen_json(const struct sale_seen *seen)
{
    if (!seen->is_known)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "age_ms",
                     (json_int_t)((monotonic_ns() - seen->seen_ns) / 1000000), "issued",
                     (json_int_t)seen->issued, "left", (json_int_t)seen->left, "orders",
                     (json_int_t)seen->orders, "oversold", (json_int_t)seen->oversold, "doubles",
                     (json_int_t)seen->doubles, "lost", (json_int_t)seen->lost);
}

json_t *live_view_json(const struct live_view *view)
{
    int64_t left = left_ms(view);

    return json_pack(
        "{s:s, s:s, s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:i, s:s?, s:o}", "run",
        view->title, "phase", phases[view->phase], "elapsed_ms", (json_int_t)view->elapsed_ms,
        "left_ms", left < 0 ? json_null() : json_integer(left), "sent", (json_int_t)view->sent,
        "answered", (json_int_t)view->answered, "accepted", (json_int_t)view->accepted, "sold_out",
        (json_int_t)view->sold_out, "orders_per_s", live_number_json(view->per_s),
        "orders_per_s_all", live_number_json(view->all_per_s), "p99_ms",
        live_number_json(view->p99_ms), "p99_all_ms", live_number_json(view->all_p99_ms),
        "silent_ms", (json_int_t)view->silent_ms, "dead", view->dead, "verdict_so_far",
        verdict_of(view), "database", seen_json(&view->seen));
}
