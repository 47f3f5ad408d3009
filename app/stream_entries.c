/* SPDX-License-Identifier: MIT */
/* stream_entries.c -- the writer's side of the stream: taking and settling entries. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/stream.h"
#include "app/stream_inside.h"
#include "base/os/clock.h"
#include "base/text/limited.h"
#include "base/text/text.h"
#include "gen/lua_scripts.h"
#include "lock/stores/redis_request.h"

enum {
    LINE_MAX_BYTES = 256 + STREAM_ID_MAX + REQUEST_ID_MAX,
    TAKEN_MAX = STREAM_BATCH_MAX * LINE_MAX_BYTES,
};

/* Read the words of a line: mark, id, voucher, user, order, request, admitted, trace.
 * An entry is valid without a readable trace. */
static bool read_entry(const char *line, struct stream_entry *e)
{
    char mark[8], voucher[65], user[65], order[65], request[65], admitted[65], trace[65];

    *e = (struct stream_entry){0};
    if (sscanf(line, "%7s %42s %64s %64s %64s %64s %64s %64s", mark, e->id, voucher, user, order,
               request, admitted, trace) != 8)
        return false;
    e->is_claimed = strcmp(mark, "claimed") == 0;
    e->is_readable = ident_parse(voucher, &e->voucher_id) == NULL &&
                     ident_parse(user, &e->user_id) == NULL &&
                     ident_parse(order, &e->order_id) == NULL &&
                     ident_parse(admitted, &e->admitted_us) == NULL &&
                     ident_is_request_id(request);
    (void)snprintf(e->request_id, sizeof(e->request_id), "%s", request);
    if (trace_is_id(trace))
        memcpy(e->trace_id, trace, sizeof(e->trace_id));
    return true;
}

/* Send the script as text, on a connection of its own, because the answer is too long
 * for the shared connection. */
bool stream_take(struct stream *s, struct stream_entry *entries, size_t most, size_t *count)
{
    char places[STREAM_NUMBER_MAX], claim_ms[STREAM_NUMBER_MAX], search[STREAM_KEY_MAX];
    const struct redis_command command = {
        9,
        {"EVAL", LUA_STREAM_TAKE, "2", s->name, search, STREAM_GROUP, s->config->process_name,
         places, claim_ms},
        REDIS_SHAPE_TEXT,
    };
    struct redis_talk talk = {.link = s->link};
    struct redis_answer answer;
    char *text = malloc(TAKEN_MAX), *rest = text, *line;

    *count = 0;
    if (text == NULL)
        return false;
    (void)snprintf(search, sizeof(search), "%s:search", s->name);
    (void)snprintf(places, sizeof(places), "%zu", most);
    (void)snprintf(claim_ms, sizeof(claim_ms), "%" PRId64, s->config->stream_claim_ms);
    text[0] = '\0';
    redis_talk_ask_text(&talk, &command, INT64_MAX, text, TAKEN_MAX, &answer);
    redis_talk_end(&talk, !talk.is_broken);
    if (answer.outcome != REDIS_ANSWERED)
        LIMITED_WARN("the writer of the stream %s cannot take orders: %s", s->name, answer.text);
    while (answer.outcome == REDIS_ANSWERED && *count < most &&
           (line = strsep(&rest, "\n")) != NULL)
        *count += read_entry(line, &entries[*count]);
    free(text);
    return answer.outcome == REDIS_ANSWERED;
}

static void add_end(struct text *lines, const struct stream_end *end)
{
    const struct stream_entry *e = end->entry;

    text_add(lines, "%s %s %" PRId64 " %" PRId64 " %s %s\n", e->id, end->verdict,
             e->voucher_id, e->user_id, e->request_id, end->reason);
}

bool stream_settle(struct stream *s, const struct stream_end *ends, size_t count)
{
    char poison[STREAM_KEY_MAX];
    struct text lines = {0};
    struct redis_script_call call = {
        .script = &s->settle,
        .key_count = 2,
        .argc = 5,
        .argv = {s->name, poison, STREAM_GROUP, s->name},
        .shape = REDIS_SHAPE_COUNT,
    };
    struct redis_answer answer;
    dlock_status st = DLOCK_NOMEM;

    (void)snprintf(poison, sizeof(poison), "%s:poison", s->name);
    for (size_t i = 0; i < count; i++)
        add_end(&lines, &ends[i]);
    call.argv[4] = lines.bytes;
    if (count > 0 && !lines.broken)
        st = redis_script_run(s->link, &call, INT64_MAX, &answer);
    if (count > 0 && st != DLOCK_OK)
        LIMITED_WARN("%zu orders of the stream %s are not settled: %s: %s", count, s->name,
                     dlock_status_text(st), dlock_error());
    text_free(&lines);
    return count == 0 || st == DLOCK_OK;
}
