/* SPDX-License-Identifier: MIT */
/* stream.c -- the stream of queued orders: its keys, its scripts and their answers; then the
 * writer's side, which takes and settles entries. */
#include "app/stream.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config.h"
#include "app/ident.h"
#include "app/stream_mac.h"
#include "base/os/clock.h"
#include "base/os/random.h"
#include "base/redis/script.h"
#include "base/text/text.h"
#include "gen/lua_scripts.h"
#include "lock/stores/redis_request.h"

#define STREAM_GROUP "writers"

enum {
    STREAM_KEY_MAX = CONFIG_STREAM_MAX + REQUEST_ID_MAX + 40,
    STREAM_NUMBER_MAX = 24,
    STREAM_RESERVED = 1024, /* the distance of two reservations of numbers */
    STREAM_ORDER_MAX = 200, /* as in lua/stream_take.lua */
};

struct stream {
    const struct config *config;
    const char *name; /* of the stream itself; other keys begin with it */
    char queued[STREAM_KEY_MAX]; /* the key of the counts */
    struct redis_link *link;
    struct redis_script admit, find, stock, settle, leave, claim;
    struct token_keys keys; /* of the MACs; the first makes them */
    _Atomic int64_t next_number; /* a multiple of STREAM_RESERVED: none is reserved */
    _Atomic int64_t length; /* the last answer of Redis */
};

enum {
    LINE_MAX_BYTES = 16 + STREAM_ID_MAX + STREAM_ORDER_MAX + STREAM_MAC_LEN,
    TAKEN_MAX = (STREAM_BATCH_MAX + 1) * LINE_MAX_BYTES,
};

static const struct redis_shape SHAPE_ADMIT[] = {
    {.what = "stream_admit.lua", .kinds = REDIS_MAY_BE_BULK}};
static const struct redis_shape SHAPE_LEFT[] = {
    {.what = "stream_leave.lua", .kinds = REDIS_MAY_BE_INTEGER, .most = INT64_MAX}};

static dlock_status load_scripts(struct stream *s)
{
    const struct {
        struct redis_script *script;
        const char *text;
    } SCRIPTS[] = {
        {&s->admit, LUA_STREAM_ADMIT},   {&s->find, LUA_STREAM_FIND},
        {&s->stock, LUA_STREAM_STOCK},   {&s->settle, LUA_STREAM_SETTLE},
        {&s->leave, LUA_STREAM_LEAVE},   {&s->claim, LUA_STREAM_CLAIM},
    };
    dlock_status st = DLOCK_OK;

    for (size_t i = 0; st == DLOCK_OK && i < sizeof(SCRIPTS) / sizeof(SCRIPTS[0]); i++) {
        SCRIPTS[i].script->text = SCRIPTS[i].text;
        st = redis_script_load(s->link, SCRIPTS[i].script);
    }
    return st;
}

dlock_status stream_open(struct stream **out, const struct config *config,
                         const struct token_keys *tokens)
{
    struct stream *s = calloc(1, sizeof(*s));
    dlock_status st = DLOCK_OK;

    *out = NULL;
    if (s == NULL)
        return DLOCK_NOMEM;
    s->config = config;
    s->name = config->stream_name;
    (void)snprintf(s->queued, sizeof(s->queued), "%s:queued", s->name);
    for (; st == DLOCK_OK && s->keys.count < tokens->count; s->keys.count++)
        if (!stream_mac_derive(&tokens->at[s->keys.count], s->name, &s->keys.at[s->keys.count]))
            st = DLOCK_NOMEM;
    if (st == DLOCK_OK)
        st = redis_link_open(&s->link, config->redis_url, (int)config->redis_timeout_ms, false);
    if (st == DLOCK_OK)
        st = load_scripts(s);
    if (st == DLOCK_OK)
        *out = s;
    else
        stream_close(s);
    return st;
}

void stream_close(struct stream *s)
{
    if (s == NULL)
        return;
    redis_link_close(s->link);
    free(s);
}

dlock_status stream_claim(struct stream *s, const char *database, bool *is_ours)
{
    char key[STREAM_KEY_MAX];
    const struct redis_script_call call = {.script = &s->claim, .key_count = 1, .argc = 2,
                                           .argv = {key, database},
                                           .shape = REDIS_SHAPE_YES_NO};
    struct redis_answer answer = {0};
    dlock_status st;

    (void)snprintf(key, sizeof(key), "%s:database", s->name);
    st = redis_script_run(s->link, &call, INT64_MAX, &answer);
    *is_ours = answer.integer == 1;
    return st;
}

dlock_status stream_check(struct stream *s)
{
    char key[STREAM_KEY_MAX];
    const struct redis_command set = {5, {"SET", key, "1", "PX", "5000"}, REDIS_SHAPE_DONE};
    struct redis_answer answer;

    (void)snprintf(key, sizeof(key), "%s:ready", s->name);
    return redis_call(s->link, &set, INT64_MAX, &answer);
}

bool stream_is_kept(struct stream *s)
{
    static const struct redis_command INFO = {2, {"INFO", "persistence"}, REDIS_SHAPE_TEXT};
    char text[4096] = "";
    struct redis_talk talk = {.link = s->link};
    struct redis_answer answer;

    redis_talk_ask_text(&talk, &INFO, INT64_MAX, text, sizeof(text), &answer);
    redis_talk_end(&talk, !talk.is_broken);
    return answer.outcome != REDIS_ANSWERED || strstr(text, "aof_enabled:0") == NULL;
}

/* ---- letting in ---- */

/* The names of the keys of an order. */
struct keys {
    char voucher[STREAM_KEY_MAX], buyers[STREAM_KEY_MAX], request[STREAM_KEY_MAX];
};

static void name_request(const struct stream *s, int64_t user_id, const char *request_id,
                         char out[STREAM_KEY_MAX])
{
    (void)snprintf(out, STREAM_KEY_MAX, "%s:request:%" PRId64 ":%s", s->name, user_id,
                   request_id);
}

static void name_keys(const struct stream *s, const struct stream_order *order,
                      struct keys *keys)
{
    (void)snprintf(keys->voucher, STREAM_KEY_MAX, "%s:voucher:%" PRId64, s->name,
                   order->voucher_id);
    (void)snprintf(keys->buyers, STREAM_KEY_MAX, "%s:buyers:%" PRId64, s->name,
                   order->voucher_id);
    name_request(s, order->user_id, order->request_id, keys->request);
}

static void write_number(char out[STREAM_NUMBER_MAX], int64_t number)
{
    (void)snprintf(out, STREAM_NUMBER_MAX, "%" PRId64, number);
}

/* The expiry of the keys, a day after the sale.  By then no order is let in any more,
 * and the writers have had a day to write the rows.  If no writer ran for that day,
 * Redis has forgotten the requests of queued orders. */
static void write_forgotten_at(char out[STREAM_NUMBER_MAX], const struct stream_order *order)
{
    enum { DAY_MS = 86400000 };

    write_number(out, order->sale_end_us / 1000 + DAY_MS);
}

/* Reserve running numbers in Redis, up to the next multiple of STREAM_RESERVED, and return the
 * first.  A Redis that has lost its data begins at another number. */
static dlock_status reserve_numbers(struct stream *s, int64_t *first)
{
    char key[STREAM_KEY_MAX], begin[STREAM_NUMBER_MAX], more[STREAM_NUMBER_MAX];
    const struct redis_command set = {4, {"SET", key, begin, "NX"}, REDIS_SHAPE_SET};
    const struct redis_command add = {3, {"INCRBY", key, more}, REDIS_SHAPE_COUNT};
    struct redis_answer answer;
    dlock_status st;

    (void)snprintf(key, sizeof(key), "%s:numbers", s->name);
    write_number(begin, (int64_t)dlock_random_below(INT32_MAX) / STREAM_RESERVED * STREAM_RESERVED);
    write_number(more, STREAM_RESERVED);
    st = redis_call(s->link, &set, INT64_MAX, &answer);
    if (st == DLOCK_OK)
        st = redis_call(s->link, &add, INT64_MAX, &answer);
    if (st == DLOCK_OK)
        *first = (answer.integer & INT32_MAX) / STREAM_RESERVED * STREAM_RESERVED + 1;
    if (st == DLOCK_OK)
        atomic_store(&s->next_number, *first + 1);
    return st;
}

/* Draw the number of an order that was admitted at that time: the seconds since 2022 above 32 bits
 * of a running number, which is from the upper half; PostgreSQL draws from the lower half. */
static dlock_status draw_number(struct stream *s, int64_t admitted_us, int64_t *number)
{
    int64_t running = atomic_load(&s->next_number);
    dlock_status st = DLOCK_OK;

    while (running % STREAM_RESERVED != 0 &&
           !atomic_compare_exchange_weak(&s->next_number, &running, running + 1))
        ; /* another thread has drawn `running` */
    if (running % STREAM_RESERVED == 0)
        st = reserve_numbers(s, &running);
    *number = (admitted_us / 1000000 - 1640995200) * ((int64_t)1 << 32) +
              ((int64_t)1 << 31 | running);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* no order was sent */
}

static enum stream_answer read_admission(const char *text, struct stream_admission *out)
{
    static const struct {
        const char *word;
        enum stream_answer answer;
    } WORDS[] = {
        {"queued", STREAM_QUEUED},     {"again", STREAM_AGAIN}, {"conflict", STREAM_CONFLICT},
        {"bought", STREAM_BOUGHT},     {"full", STREAM_FULL},   {"sold-out", STREAM_SOLD_OUT},
        {"unknown", STREAM_NO_STOCK},
    };
    size_t len = strcspn(text, " ");

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        enum stream_answer answer = WORDS[i].answer;

        if (strlen(WORDS[i].word) != len || memcmp(WORDS[i].word, text, len) != 0)
            continue;
        if (answer == STREAM_AGAIN &&
            (text[len] != ' ' || ident_parse(text + len + 1, &out->order_id) != NULL))
            break;
        if (answer == STREAM_SOLD_OUT || answer == STREAM_NO_STOCK)
            (void)sscanf(text + len, "%" SCNd64 " %" SCNd64, &out->admitted, &out->queued);
        return answer;
    }
    LIMITED_WARN("stream_admit.lua answered \"%s\"", text);
    return STREAM_FAILED;
}

static dlock_status ask_to_admit(struct stream *s, const struct stream_order *order,
                                 int64_t number, struct redis_answer *answer)
{
    char voucher[STREAM_NUMBER_MAX], most[STREAM_NUMBER_MAX], forgotten[STREAM_NUMBER_MAX];
    char text[STREAM_ORDER_MAX], mac[STREAM_MAC_LEN + 1];
    struct keys keys;
    struct redis_script_call call = {
        .script = &s->admit,
        .key_count = 5,
        .argc = 10,
        .argv = {s->name, keys.voucher, keys.buyers, keys.request, s->queued, text, mac, voucher,
                 most, forgotten},
        .shape = SHAPE_ADMIT,
    };
    int len = snprintf(text, sizeof(text),
                       "%" PRId64 " %" PRId64 " %" PRId64 " %s %" PRId64 " %s",
                       order->voucher_id, order->user_id, number, order->request_id,
                       order->admitted_us, order->trace_id != NULL ? order->trace_id : "-");

    if (!stream_mac_write(&s->keys.at[0], text, (size_t)len, mac))
        return DLOCK_NOMEM;
    name_keys(s, order, &keys);
    write_number(voucher, order->voucher_id);
    write_number(most, s->config->stream_queued);
    write_forgotten_at(forgotten, order);
    return redis_script_run(s->link, &call, INT64_MAX, answer);
}

enum stream_answer stream_admit(struct stream *s, const struct stream_order *order,
                                struct stream_admission *out)
{
    struct redis_answer answer;
    int64_t number = 0;
    dlock_status st = draw_number(s, order->admitted_us, &number);
    bool may_be_in;
    enum stream_answer admitted;

    *out = (struct stream_admission){0};
    if (st == DLOCK_OK)
        st = ask_to_admit(s, order, number, &answer);
    may_be_in = st == DLOCK_UNKNOWN;
    if (may_be_in)
        st = ask_to_admit(s, order, number, &answer);
    if (st != DLOCK_OK) {
        LIMITED_WARN("--order-path=stream: %s: %s", dlock_status_text(st), dlock_error());
        return may_be_in ? STREAM_UNANSWERED : STREAM_FAILED;
    }
    admitted = read_admission(answer.text, out);
    out->may_be_let_in = may_be_in;
    if (admitted == STREAM_QUEUED)
        out->order_id = number;
    /* After a repeated call, "again" means that the first call has queued this same
     * order. */
    return may_be_in && admitted == STREAM_AGAIN ? STREAM_QUEUED : admitted;
}

bool stream_tell_stock(struct stream *s, const struct stream_order *order,
                       const struct stream_admission *seen, int64_t stock)
{
    char admitted[STREAM_NUMBER_MAX], units[STREAM_NUMBER_MAX], forgotten[STREAM_NUMBER_MAX];
    char voucher[STREAM_NUMBER_MAX];
    struct keys keys;
    struct redis_script_call call = {
        .script = &s->stock,
        .key_count = 2,
        .argc = 6,
        .argv = {keys.voucher, s->queued, admitted, units, forgotten, voucher},
        .shape = REDIS_SHAPE_YES_NO,
    };
    struct redis_answer answer;
    dlock_status st;

    name_keys(s, order, &keys);
    write_number(admitted, seen->admitted);
    write_number(units, stock);
    write_number(voucher, order->voucher_id);
    write_forgotten_at(forgotten, order);
    st = redis_script_run(s->link, &call, INT64_MAX, &answer);
    if (st != DLOCK_OK)
        LIMITED_WARN("--order-path=stream: the stock of voucher %" PRId64 ": %s: %s",
                     order->voucher_id, dlock_status_text(st), dlock_error());
    return st == DLOCK_OK;
}

/* ---- asking ---- */

bool stream_find_request(struct stream *s, int64_t user_id, const char *request_id,
                         struct stream_request *out)
{
    char key[STREAM_KEY_MAX];
    const struct redis_script_call call = {
        .script = &s->find,
        .key_count = 2,
        .argc = 2,
        .argv = {s->name, key},
        .shape = REDIS_SHAPE_TEXT,
    };
    struct redis_answer answer;
    dlock_status st;

    *out = (struct stream_request){.state = "none"};
    name_request(s, user_id, request_id, key);
    st = redis_script_run(s->link, &call, INT64_MAX, &answer);
    if (st != DLOCK_OK) {
        LIMITED_WARN("--order-path=stream: %s: %s", dlock_status_text(st), dlock_error());
        return false;
    }
    if (answer.kind == REDIS_BULK &&
        sscanf(answer.text, "%31s %" SCNd64 " %" SCNd64, out->state, &out->voucher_id,
               &out->order_id) != 3)
        *out = (struct stream_request){.state = "none"};
    if (strcmp(out->state, "written") == 0)
        out->order_id = 0;
    out->is_queued = strcmp(out->state, "queued") == 0;
    return true;
}

int64_t stream_leave(struct stream *s)
{
    const struct redis_script_call call = {
        .script = &s->leave,
        .key_count = 1,
        .argc = 3,
        .argv = {s->name, STREAM_GROUP, s->config->process_name},
        .shape = SHAPE_LEFT,
    };
    struct redis_answer answer;

    return redis_script_run(s->link, &call, INT64_MAX, &answer) == DLOCK_OK ? answer.integer
                                                                           : -1;
}

int64_t stream_length(struct stream *s)
{
    const struct redis_command length = {2, {"XLEN", s->name}, REDIS_SHAPE_COUNT};
    struct redis_answer answer;

    if (redis_call(s->link, &length, INT64_MAX, &answer) == DLOCK_OK)
        atomic_store(&s->length, answer.integer);
    return atomic_load(&s->length);
}

/* ---- the writer's side ---- */

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
