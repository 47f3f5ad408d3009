/* SPDX-License-Identifier: MIT */
/* live.c -- the threads that show the results of a load while it runs. */
#include "loadtest/live/live.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/duration.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/live_block.h"
#include "loadtest/kit/memory.h"
#include "loadtest/live/due.h"
#include "loadtest/live/view.h"
#include "loadtest/live/window.h"

enum {
    TICK_MS = 100,
    DRAW_MS = 200,
    LINE_MS = 5000,
    JSON_MS = 1000,
    URL_MAX = 256,
};

struct live {
    struct live_options options;
    bool draws, prints; /* a block; lines of a log                                     */
    pthread_t drawer, counter;

    pthread_mutex_t drawing; /* of is_paused, and held while the block is drawn          */
    bool is_paused;
    pthread_mutex_t mutex; /* of all that follows                                      */
    pthread_cond_t change;
    bool is_over, runs;
    char title[LIVE_TITLE_MAX], url[URL_MAX], above[LIVE_CAPTION_MAX], below[LIVE_CAPTION_MAX];
    enum live_phase phase;
    int64_t begin_ns, limit_ms;
    int64_t vouchers[SALE_WATCH_VOUCHERS_MAX];
    int voucher_count;
    uint64_t run; /* its number                                                       */
    struct sale_seen seen;
    struct live_window window; /* of this run                                          */
};

static void look(struct live *live, struct live_view *view)
{
    memset(view, 0, sizeof *view);
    pthread_mutex_lock(&live->mutex);
    view->command = live->options.command;
    snprintf(view->title, sizeof view->title, "%s", live->title);
    snprintf(view->above, sizeof view->above, "%s", live->above);
    snprintf(view->below, sizeof view->below, "%s", live->below);
    view->runs = live->runs;
    view->phase = live->phase;
    view->elapsed_ms = (monotonic_ns() - live->begin_ns) / 1000000;
    view->limit_ms = live->limit_ms;
    view->seen = live->seen;
    live_window_look(&live->window, live->begin_ns, view);
    pthread_mutex_unlock(&live->mutex);
}

/* Wait so many milliseconds, or until something changes.  True: the thread is to end. */
static bool rest(struct live *live, int64_t ms)
{
    struct timespec until;
    bool is_over;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&live->mutex);
    if (!live->is_over)
        (void)pthread_cond_timedwait(&live->change, &live->mutex, &until);
    is_over = live->is_over;
    pthread_mutex_unlock(&live->mutex);
    return !is_over;
}

/* A terminal that does not read blocks only this thread. */
static void draw(struct live *live, const struct live_view *view, char text[LIVE_TEXT_MAX])
{
    live_view_block(view, text);
    pthread_mutex_lock(&live->drawing);
    if (!live->is_paused)
        live_block_draw(text);
    pthread_mutex_unlock(&live->drawing);
}

static void *draw_all(void *arg)
{
    struct live *live = arg;
    struct live_view *view = memory_need(calloc(1, sizeof *view));
    int64_t drawn_ns = 0, printed_ns = monotonic_ns(), told_ns = 0;
    char text[LIVE_TEXT_MAX];

    do {
        look(live, view);
        if (live->draws && live_is_due(&drawn_ns, DRAW_MS))
            draw(live, view, text);
        if (live->prints && view->runs && live_is_due(&printed_ns, LINE_MS)) {
            live_view_line(view, text);
            fprintf(stderr, "%s\n", text);
        }
        if (view->runs && json_lines_are_on() && live_is_due(&told_ns, JSON_MS))
            json_lines_write("progress", live_view_json(view));
    } while (rest(live, TICK_MS));
    free(view);
    return NULL;
}

static void *count_all(void *arg)
{
    struct live *live = arg;
    struct sale_watch watch = {0};
    int64_t vouchers[SALE_WATCH_VOUCHERS_MAX];
    uint64_t run = 0, now;
    char url[URL_MAX];
    bool counts;

    do {
        pthread_mutex_lock(&live->mutex);
        now = live->run;
        counts = live->runs && live->phase != LIVE_STARTING && live->phase != LIVE_JUDGING;
        memcpy(vouchers, live->vouchers, sizeof vouchers);
        snprintf(url, sizeof url, "%s", live->url);
        if (now != run)
            sale_watch_begin(&watch, vouchers, live->voucher_count);
        pthread_mutex_unlock(&live->mutex);
        run = now;
        if (!counts)
            continue;
        sale_watch_look(&watch, url);
        pthread_mutex_lock(&live->mutex);
        if (live->run == run)
            live->seen = watch.seen;
        pthread_mutex_unlock(&live->mutex);
    } while (rest(live, TICK_MS));
    sale_watch_end(&watch);
    return NULL;
}

struct live *live_open(const struct live_options *options)
{
    struct live *live = memory_need(calloc(1, sizeof *live));

    live->options = *options;
    live->draws = !options->is_quiet && live_block_is_possible();
    live->prints = !options->is_quiet && !live->draws && options->has_log_lines;
    live->begin_ns = monotonic_ns();
    live->is_paused = true;
    pthread_mutex_init(&live->drawing, NULL);
    pthread_mutex_init(&live->mutex, NULL);
    pthread_cond_init(&live->change, NULL);
    if (pthread_create(&live->counter, NULL, count_all, live) != 0) {
        free(live);
        return NULL;
    }
    if (pthread_create(&live->drawer, NULL, draw_all, live) == 0)
        return live;
    pthread_mutex_lock(&live->mutex);
    live->is_over = true;
    pthread_mutex_unlock(&live->mutex);
    pthread_join(live->counter, NULL);
    free(live);
    return NULL;
}

void live_close(struct live *live)
{
    if (!live)
        return;
    live_pause(live);
    pthread_mutex_lock(&live->mutex);
    live->is_over = true;
    pthread_cond_broadcast(&live->change);
    pthread_mutex_unlock(&live->mutex);
    pthread_join(live->drawer, NULL);
    pthread_join(live->counter, NULL);
    pthread_cond_destroy(&live->change);
    pthread_mutex_destroy(&live->mutex);
    pthread_mutex_destroy(&live->drawing);
    free(live);
}

bool live_draws(const struct live *live)
{
    return live && live->draws;
}

void live_caption(struct live *live, const char *above, const char *below)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    snprintf(live->above, sizeof live->above, "%s", above);
    snprintf(live->below, sizeof live->below, "%s", below);
    pthread_mutex_unlock(&live->mutex);
}

void live_begin(struct live *live, const struct live_run *run)
{
    int count = run->voucher_count < SALE_WATCH_VOUCHERS_MAX ? run->voucher_count
                                                             : SALE_WATCH_VOUCHERS_MAX;

    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    snprintf(live->title, sizeof live->title, "%s", run->title);
    snprintf(live->url, sizeof live->url, "%s", run->url);
    memcpy(live->vouchers, run->vouchers, (size_t)count * sizeof *run->vouchers);
    live->voucher_count = count;
    live->limit_ms = run->limit_ms;
    live->phase = LIVE_STARTING;
    live->begin_ns = monotonic_ns();
    live_window_begin(&live->window);
    live->seen = (struct sale_seen){0};
    live->run++;
    live->runs = true;
    pthread_mutex_unlock(&live->mutex);
    live_resume(live);
}

void live_set_phase(struct live *live, enum live_phase phase)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    if (phase == LIVE_SELLING)
        live->begin_ns = live->window.answer_ns = monotonic_ns();
    live->phase = phase;
    pthread_mutex_unlock(&live->mutex);
}

void live_end(struct live *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    live->runs = false;
    pthread_mutex_unlock(&live->mutex);
    live_pause(live);
}

bool live_wants(struct live *live)
{
    /* Only this thread writes the fields that are read here, so no mutex is needed. */
    return live && live_window_is_due(&live->window);
}

void live_feed(struct live *live, const struct live_counts *counts)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->mutex);
    live_window_tell(&live->window, counts);
    pthread_mutex_unlock(&live->mutex);
}

void live_pause(struct live *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->drawing);
    live->is_paused = true;
    live_block_hide();
    pthread_mutex_unlock(&live->drawing);
}

void live_resume(struct live *live)
{
    if (!live)
        return;
    pthread_mutex_lock(&live->drawing);
    live->is_paused = false;
    pthread_mutex_unlock(&live->drawing);
}
