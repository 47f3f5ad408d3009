/* SPDX-License-Identifier: MIT */
/* model_groups.c -- groups of consumers of a stream, in the forms in which the order path
 * `stream` uses the commands. */
#include <stdio.h>

#include "tests/simulation/model_streams.h"

/* Reply that there is no such key, or no such group. */
static void refuse_group(struct call *call, size_t key, size_t group, const char *where)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "NOGROUP No such key '%.*s' or consumer group '%.*s'%s",
                   (int)call->argv[key].len, call->argv[key].at, (int)call->argv[group].len,
                   call->argv[group].at, where);
    reply_error(call->out, text);
}

/* ---- groups ---- */

static void create_group(struct call *call)
{
    bool makes = call->argc == 6 && bytes_is(call->argv[5], "MKSTREAM");
    struct stream_id from = {0, 0};
    struct model_stream *stream;

    if (!makes && call->argc != 5) {
        model_stream_refuse(call);
        return;
    }
    if (!model_stream_find(call, 2, &stream))
        return;
    if (stream == NULL && !makes) {
        reply_error(call->out,
                    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE "
                    "you may want to use the MKSTREAM option to create an empty stream "
                    "automatically.");
        return;
    }
    if (!model_stream_id(call, 4, 0, &from))
        return;
    if (stream == NULL)
        model_touch(call->model, call->argv[2]); /* a new group alone changes no watched key */
    stream = model_stream_made(call, 2, stream);
    if (stream_group_find(stream, call->argv[3]) != NULL) {
        reply_error(call->out, "BUSYGROUP Consumer Group name already exists");
        return;
    }
    (void)stream_group_add(stream, call->argv[3], from);
    reply_status(call->out, "OK");
}

/* Find the group that the arguments name. NULL: there is none, and the reply says so. */
static struct stream_group *group_of(struct call *call, const char *without_key)
{
    struct stream_group *group;
    struct model_stream *stream;
    char text[256];

    if (!model_stream_find(call, 2, &stream))
        return NULL;
    if (stream == NULL) {
        reply_error(call->out, without_key);
        return NULL;
    }
    group = stream_group_find(stream, call->argv[3]);
    (void)snprintf(text, sizeof(text),
                   "NOGROUP No such consumer group '%.*s' for key name '%.*s'",
                   (int)call->argv[3].len, call->argv[3].at, (int)call->argv[2].len,
                   call->argv[2].at);
    if (group == NULL)
        reply_error(call->out, text);
    return group;
}

static void delete_consumer(struct call *call)
{
    struct stream_consumer *consumer;
    struct stream_group *group = group_of(
        call, "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you "
              "may want to use the MKSTREAM option to create an empty stream automatically.");

    if (group == NULL)
        return;
    consumer = stream_consumer_find(group, call->argv[4]);
    reply_integer(call->out, consumer != NULL ? stream_consumer_remove(group, consumer) : 0);
    if (consumer != NULL)
        model_touch(call->model, call->argv[2]);
}

static void xgroup(struct call *call)
{
    if (bytes_is(call->argv[1], "CREATE") && call->argc >= 5)
        create_group(call);
    else if (bytes_is(call->argv[1], "DELCONSUMER") && call->argc == 5)
        delete_consumer(call);
    else
        model_stream_refuse(call);
}

static void xinfo(struct call *call)
{
    const struct stream_group *group;
    int64_t count = 0, idle_ms;

    if (!bytes_is(call->argv[1], "CONSUMERS") || call->argc != 4) {
        model_stream_refuse(call);
        return;
    }
    group = group_of(call, "ERR no such key");
    if (group == NULL)
        return;
    for (const struct stream_consumer *at = group->consumers; at != NULL; at = at->next)
        count++;
    reply_array(call->out, count);
    for (const struct stream_consumer *at = group->consumers; at != NULL; at = at->next) {
        idle_ms = model_now_ms(call->model) - at->seen_ms;
        reply_array(call->out, 6);
        reply_text(call->out, "name");
        reply_bulk(call->out, at->name);
        reply_text(call->out, "pending");
        reply_integer(call->out, stream_consumer_pending(group, at));
        reply_text(call->out, "idle");
        reply_integer(call->out, idle_ms > 0 ? idle_ms : 0);
    }
}

/* ---- delivery ---- */

static struct stream_consumer *consumer_of(struct call *call, struct stream_group *group,
                                           struct bytes name)
{
    struct stream_consumer *consumer = stream_consumer_find(group, name);
    int64_t now_ms = model_now_ms(call->model);

    if (consumer == NULL)
        return stream_consumer_add(group, name, now_ms);
    consumer->seen_ms = now_ms;
    return consumer;
}

static void deliver(struct call *call, struct model_stream *stream, struct stream_group *group,
                    size_t at)
{
    struct stream_pending pending = {stream->parts[at].id,
                                     stream_consumer_find(group, call->argv[3]),
                                     model_now_ms(call->model)};

    group->last = pending.id;
    if (stream_pending_has(group, pending.id))
        stream_pending_remove(group, stream_pending_find(group, pending.id));
    stream_pending_add(group, pending);
    model_stream_reply(call->out, &stream->parts[at]);
}

/* XREADGROUP GROUP group consumer COUNT count STREAMS key > */
static void xreadgroup(struct call *call)
{
    struct stream_group *group;
    struct model_stream *stream;
    size_t from, left;
    int64_t most;

    if (call->argc != 9 || !bytes_is(call->argv[1], "GROUP") ||
        !bytes_is(call->argv[4], "COUNT") || !bytes_is(call->argv[6], "STREAMS") ||
        !bytes_is(call->argv[8], ">")) {
        model_stream_refuse(call);
        return;
    }
    if (!model_number(call, 5, &most) || !model_stream_find(call, 7, &stream))
        return;
    group = stream != NULL ? stream_group_find(stream, call->argv[2]) : NULL;
    if (group == NULL) {
        refuse_group(call, 7, 2, " in XREADGROUP with GROUP option");
        return;
    }
    from = 0;
    while (from < stream->count && stream_id_compare(stream->parts[from].id, group->last) <= 0)
        from++;
    left = stream->count - from;
    if (left == 0) {
        reply_nil_array(call->out);
        return;
    }
    (void)consumer_of(call, group, call->argv[3]);
    if (most > 0 && (uint64_t)most < left)
        left = (size_t)most;
    reply_array(call->out, 1);
    reply_array(call->out, 2);
    reply_bulk(call->out, call->argv[7]);
    reply_array(call->out, (int64_t)left);
    for (; left > 0; left--)
        deliver(call, stream, group, from++);
}

/* XACK key group id ... */
static void xack(struct call *call)
{
    struct stream_group *group;
    struct model_stream *stream;
    struct stream_id id;
    int64_t count = 0;

    if (!model_stream_find(call, 1, &stream))
        return;
    group = stream != NULL ? stream_group_find(stream, call->argv[2]) : NULL;
    for (size_t i = 3; group != NULL && i < call->argc; i++)
        if (!model_stream_id(call, i, 0, &id))
            return;
    for (size_t i = 3; group != NULL && i < call->argc; i++) {
        (void)model_stream_id(call, i, 0, &id);
        if (!stream_pending_has(group, id))
            continue;
        stream_pending_remove(group, stream_pending_find(group, id));
        count++;
    }
    reply_integer(call->out, count);
}

/* The result of a claim. */
struct claim {
    struct buffer taken, gone; /* claimed entries; ids of pending entries that were deleted */
    int64_t taken_count, gone_count;
    struct stream_id next; /* the next id to look at; 0-0: all entries were looked at */
};

/* Look at up to ten times as many entries as may be claimed, like redis-server. */
static void claim(struct call *call, struct model_stream *stream, struct stream_group *group,
                  int64_t idle_ms, struct stream_id from, int64_t most, struct claim *out)
{
    int64_t now_ms = model_now_ms(call->model);
    size_t at = stream_pending_find(group, from);
    struct stream_consumer *consumer = NULL;

    for (int64_t looks = most * 10; looks > 0 && most > 0 && at < group->pending_count;
         looks--) {
        struct stream_pending *it = &group->pending[at];

        if (!stream_value_has(stream, it->id)) {
            model_stream_reply_id(&out->gone, it->id);
            out->gone_count++;
            stream_pending_remove(group, at);
            most--;
            continue;
        }
        at++;
        if (idle_ms > 0 && now_ms - it->delivered_ms < idle_ms)
            continue;
        if (consumer == NULL)
            consumer = consumer_of(call, group, call->argv[3]);
        it->consumer = consumer;
        it->delivered_ms = now_ms;
        model_stream_reply(&out->taken, &stream->parts[stream_value_find(stream, it->id)]);
        out->taken_count++;
        most--;
    }
    if (at < group->pending_count)
        out->next = group->pending[at].id;
}

/* XAUTOCLAIM key group consumer idle first COUNT count */
static void xautoclaim(struct call *call)
{
    struct claim got = {.next = {0, 0}};
    struct stream_group *group;
    struct model_stream *stream;
    struct stream_id from;
    int64_t idle_ms, most;

    if (call->argc != 8 || !bytes_is(call->argv[6], "COUNT")) {
        model_stream_refuse(call);
        return;
    }
    if (!model_number(call, 4, &idle_ms) || !model_stream_id(call, 5, 0, &from) ||
        !model_number(call, 7, &most))
        return;
    if (most < 1) {
        reply_error(call->out, "ERR COUNT must be > 0");
        return;
    }
    if (!model_stream_find(call, 1, &stream))
        return;
    group = stream != NULL ? stream_group_find(stream, call->argv[2]) : NULL;
    if (group == NULL) {
        refuse_group(call, 1, 2, "");
        return;
    }
    claim(call, stream, group, idle_ms, from, most, &got);
    reply_array(call->out, 3);
    model_stream_reply_id(call->out, got.next);
    reply_array(call->out, got.taken_count);
    buffer_add(call->out, got.taken.at, got.taken.len);
    reply_array(call->out, got.gone_count);
    buffer_add(call->out, got.gone.at, got.gone.len);
    buffer_free(&got.taken);
    buffer_free(&got.gone);
}

const struct command model_group_commands[] = {
    {"XGROUP", xgroup, -2, true, true},
    {"XINFO", xinfo, -2, false, true},
    {"XREADGROUP", xreadgroup, -7, false, true},
    {"XACK", xack, -4, false, true},
    {"XAUTOCLAIM", xautoclaim, -6, false, true},
    {NULL, NULL, 0, false, false},
};
