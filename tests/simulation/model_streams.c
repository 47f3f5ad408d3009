/* SPDX-License-Identifier: MIT */
/* model_streams.c -- streams and their entries, in the forms in which the order path `stream`
 * uses the commands.
 * A command in another form ends the seed, and its text names the form. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/model_streams.h"
#include "tests/simulation/world.h"

static const char BAD_ID[] = "ERR Invalid stream ID specified as stream command argument";

/* ---- arguments ---- */

void model_stream_refuse(struct call *call)
{
    char text[160] = "";
    size_t len = 0;

    for (size_t i = 0; i < call->argc && len < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i > 0 ? " " : "",
                                (int)call->argv[i].len, call->argv[i].at);
    world_condemn(NOT_KNOWN, "the model of Redis does not know the form %s", text);
    reply_error(call->out, "ERR syntax error");
}

static bool read_digits(const char **at, const char *end, uint64_t *out)
{
    const char *first = *at;

    *out = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        uint64_t digit = (uint64_t)(**at - '0');

        if (*out > (UINT64_MAX - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    return *at > first && (*at - first == 1 || *first != '0');
}

bool model_stream_id(struct call *call, size_t arg, uint64_t seq, struct stream_id *out)
{
    const char *at = call->argv[arg].at, *end = at + call->argv[arg].len;
    bool is_one = read_digits(&at, end, &out->ms);

    out->seq = seq;
    if (is_one && at < end && *at == '-') {
        at++;
        is_one = read_digits(&at, end, &out->seq);
    }
    if (is_one && at == end)
        return true;
    reply_error(call->out, BAD_ID);
    return false;
}

static struct bytes id_text(struct stream_id id, char out[48])
{
    int len = snprintf(out, 48, "%" PRIu64 "-%" PRIu64, id.ms, id.seq);

    return (struct bytes){out, (size_t)len};
}

void model_stream_reply_id(struct buffer *out, struct stream_id id)
{
    char text[48];

    reply_bulk(out, id_text(id, text));
}

void model_stream_reply(struct buffer *out, const struct stream_part *part)
{
    reply_array(out, 2);
    model_stream_reply_id(out, part->id);
    reply_array(out, (int64_t)part->count);
    for (size_t i = 0; i < part->count; i++)
        reply_bulk(out, part->words[i]);
}

bool model_stream_find(struct call *call, size_t arg, struct model_stream **out)
{
    struct key *key;

    if (!model_find(call, call->argv[arg], STREAM, &key))
        return false;
    *out = key != NULL ? key->stream : NULL;
    return true;
}

struct model_stream *model_stream_made(struct call *call, size_t arg, struct model_stream *stream)
{
    struct key *key;

    if (stream != NULL)
        return stream;
    key = keys_add(&call->model->keys, call->argv[arg], STREAM);
    key->stream = stream_value_new();
    return key->stream;
}

/* ---- entries ---- */

/* XADD key [MAXLEN count] * field value ... */
static void xadd(struct call *call)
{
    bool has_most = bytes_is(call->argv[2], "MAXLEN");
    size_t id_at = has_most ? 4 : 2;
    struct model_stream *stream;
    struct stream_id id;
    int64_t most = INT64_MAX;

    if (has_most && !model_number(call, 3, &most))
        return;
    if (most < 0 || call->argc <= id_at || !bytes_is(call->argv[id_at], "*")) {
        model_stream_refuse(call);
        return;
    }
    if (call->argc < id_at + 3 || (call->argc - id_at) % 2 == 0) {
        reply_error(call->out, "ERR wrong number of arguments for 'xadd' command");
        return;
    }
    if (!model_stream_find(call, 1, &stream))
        return;
    stream = model_stream_made(call, 1, stream);
    id = stream_value_next(stream, model_now_ms(call->model));
    stream_value_add(stream, id, call->argv + id_at + 1, call->argc - id_at - 1);
    while ((int64_t)stream->count > most)
        stream_value_remove(stream, 0);
    model_touch(call->model, call->argv[1]);
    model_stream_reply_id(call->out, id);
}

static void xlen(struct call *call)
{
    struct model_stream *stream;

    if (model_stream_find(call, 1, &stream))
        reply_integer(call->out, stream != NULL ? (int64_t)stream->count : 0);
}

/* XRANGE key first last */
static void xrange(struct call *call)
{
    struct stream_id first = {0, 0}, last = {UINT64_MAX, UINT64_MAX};
    struct model_stream *stream;
    size_t from, to;

    if (call->argc != 4 || call->argv[2].at[0] == '(' || call->argv[3].at[0] == '(') {
        model_stream_refuse(call);
        return;
    }
    if ((!bytes_is(call->argv[2], "-") && !model_stream_id(call, 2, 0, &first)) ||
        (!bytes_is(call->argv[3], "+") && !model_stream_id(call, 3, UINT64_MAX, &last)) ||
        !model_stream_find(call, 1, &stream))
        return;
    from = stream != NULL ? stream_value_find(stream, first) : 0;
    to = from;
    while (stream != NULL && to < stream->count &&
           stream_id_compare(stream->parts[to].id, last) <= 0)
        to++;
    reply_array(call->out, (int64_t)(to - from));
    for (; from < to; from++)
        model_stream_reply(call->out, &stream->parts[from]);
}

/* XDEL key id ... */
static void xdel(struct call *call)
{
    struct model_stream *stream;
    struct stream_id id;
    int64_t count = 0;

    if (!model_stream_find(call, 1, &stream))
        return;
    for (size_t i = 2; stream != NULL && i < call->argc; i++)
        if (!model_stream_id(call, i, 0, &id))
            return;
    for (size_t i = 2; stream != NULL && i < call->argc; i++) {
        (void)model_stream_id(call, i, 0, &id);
        if (!stream_value_has(stream, id))
            continue;
        stream_value_remove(stream, stream_value_find(stream, id));
        count++;
    }
    if (count > 0)
        model_touch(call->model, call->argv[1]);
    reply_integer(call->out, count);
}

const struct command model_stream_commands[] = {
    {"XADD", xadd, -5, true, true},
    {"XLEN", xlen, 2, false, true},
    {"XRANGE", xrange, -4, false, true},
    {"XDEL", xdel, -3, false, true},
    {NULL, NULL, 0, false, false},
};
