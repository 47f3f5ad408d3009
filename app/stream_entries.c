/* SPDX-License-Identifier: MIT */
/* stream_entries.c -- the writer's side of the stream: taking and settling entries. */
#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/stream.h"
#include "app/stream_inside.h"
#include "base/os/clock.h"
#include "base/text/text.h"
#include "gen/lua_scripts.h"
#include "lock/stores/redis_request.h"

enum {
    LINE_MAX_BYTES = 16 + STREAM_ID_MAX + STREAM_ORDER_MAX + STREAM_MAC_LEN,
    TAKEN_MAX = (STREAM_BATCH_MAX + 1) * LINE_MAX_BYTES,
};

/* Is the MAC of `len` bytes by one of the keys?  False: no memory, and not known. */
static bool check_mac(const struct stream *s, const char *order, size_t len, const char *mac,
                      bool *is_right)
{
    char right[STREAM_MAC_LEN + 1];

    *is_right = false;
    for (size_t i = 0; i < s->keys.count && strlen(mac) == STREAM_MAC_LEN && !*is_right; i++) {
        if (!stream_mac_write(&s->keys.at[i], order, len, right))
            return false;
        *is_right = CRYPTO_memcmp(right, mac, STREAM_MAC_LEN) == 0;
    }
    return true;
}

/* Read a line: mark, id, order, MAC; the order only if its MAC is right.  False: it is no such
 * line, or there is no memory, and a writer claims the entry later. */
static bool read_entry(const struct stream *s, const char *line, struct stream_entry *e)
{
    const char *mac = strrchr(line, ' ');
    char mark[8], trace[TRACE_ID_LEN + 1] = "";
    int at = 0;

    *e = (struct stream_entry){.request_id = "?"};
    if (mac == NULL || sscanf(line, "%7s %42s %n", mark, e->id, &at) != 2 || line + at > mac ||
        !check_mac(s, line + at, (size_t)(mac - line) - (size_t)at, mac + 1, &e->is_genuine))
        return false;
    e->is_claimed = strcmp(mark, "claimed") == 0;
    if (e->is_genuine &&
        sscanf(line + at, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %64s %" SCNd64 " %32s",
               &e->voucher_id, &e->user_id, &e->order_id, e->request_id, &e->admitted_us,
               trace) != 6)
        return false;
    if (trace_is_id(trace))
        memcpy(e->trace_id, trace, sizeof(e->trace_id));
    return true;
}

/* Send the script as text, on a connection of its own, because the answer is too long
 * for the shared connection. */
bool stream_take(struct stream *s, struct stream_entry *entries, size_t most, size_t *count,
                 int64_t *missing)
{
    char places[STREAM_NUMBER_MAX], claim_ms[STREAM_NUMBER_MAX], search[STREAM_KEY_MAX];
    const struct redis_command command = {
        10,
        {"EVAL", LUA_STREAM_TAKE, "3", s->name, search, s->queued, STREAM_GROUP,
         s->config->process_name, places, claim_ms},
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
    else if ((line = strsep(&rest, "\n")) != NULL)
        (void)sscanf(line, "%" SCNd64, missing);
    while (answer.outcome == REDIS_ANSWERED && *count < most &&
           (line = strsep(&rest, "\n")) != NULL)
        *count += read_entry(s, line, &entries[*count]);
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
        .key_count = 3,
        .argc = 6,
        .argv = {s->name, poison, s->queued, STREAM_GROUP, s->name},
        .shape = REDIS_SHAPE_COUNT,
    };
    struct redis_answer answer;
    dlock_status st = DLOCK_NOMEM;

    (void)snprintf(poison, sizeof(poison), "%s:poison", s->name);
    for (size_t i = 0; i < count; i++)
        add_end(&lines, &ends[i]);
    call.argv[5] = lines.bytes;
    if (count > 0 && !lines.broken)
        st = redis_script_run(s->link, &call, INT64_MAX, &answer);
    if (count > 0 && st != DLOCK_OK)
        LIMITED_WARN("%zu orders of the stream %s are not settled: %s: %s", count, s->name,
                     dlock_status_text(st), dlock_error());
    text_free(&lines);
    return count == 0 || st == DLOCK_OK;
}
