/* SPDX-License-Identifier: MIT */
/* view.h -- the state of a running load at one moment, for people and for programs. */
#ifndef LOADTEST_LIVE_VIEW_H
#define LOADTEST_LIVE_VIEW_H

#include <jansson.h>

#include "loadtest/live/load_state.h"
#include "loadtest/live/sale_watch.h"
#include "loadtest/live/text.h"

enum { LIVE_TITLE_MAX = 200, LIVE_CAPTION_MAX = 3000 };

struct live_view {
    const char *command;
    char title[LIVE_TITLE_MAX], above[LIVE_CAPTION_MAX], below[LIVE_CAPTION_MAX];
    bool runs;           /* false: no run goes on                                     */
    enum live_phase phase;
    int64_t elapsed_ms, limit_ms;
    int64_t sent, answered, accepted, sold_out;
    double per_s, all_per_s;  /* accepted orders a second: of the last seconds, of all; -1 */
    double p99_ms, all_p99_ms; /* -1: no order was accepted                              */
    int64_t silent_ms;   /* the time since the last answer, if requests wait           */
    int dead;
    struct sale_seen seen;
};

/* The lines of the block. */
void live_view_block(const struct live_view *view, char out[LIVE_TEXT_MAX]);

/* The state of the sale as a line for a log, without the end of the line. */
void live_view_line(const struct live_view *view, char out[LIVE_TEXT_MAX]);

/* The fields of the event "progress"; the caller owns it. */
json_t *live_view_json(const struct live_view *view);

/* The value; null if the value is negative, that is unknown.  The caller owns the JSON. */
json_t *live_number_json(double value);

#endif /* LOADTEST_LIVE_VIEW_H */
