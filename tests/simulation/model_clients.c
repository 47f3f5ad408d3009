/* SPDX-License-Identifier: MIT */
/* model_clients.c -- the commands about clients: greetings, channels and messages. */
#include <stdlib.h>

#include "tests/simulation/model.h"
#include "tests/simulation/world.h"

static void ping(struct call *call)
{
    if (call->client != NULL && call->client->channel_count > 0) {
        reply_array(call->out, 2);
        reply_text(call->out, "pong");
        reply_text(call->out, "");
    } else {
        reply_status(call->out, "PONG");
    }
}

/* In a transaction UNWATCH does nothing: EXEC and DISCARD end all watches. */
static void unwatch(struct call *call)
{
    reply_status(call->out, "OK");
}

/* ---- channels ---- */

static size_t find_channel(const struct client *client, struct bytes channel)
{
    size_t at = 0;

    while (at < client->channel_count && !bytes_equal(client->channels[at], channel))
        at++;
    return at;
}

static void reply_change(struct call *call, const char *what, struct bytes channel)
{
    reply_array(call->out, 3);
    reply_text(call->out, what);
    reply_bulk(call->out, channel);
    reply_integer(call->out, (int64_t)call->client->channel_count);
}

static void subscribe(struct call *call)
{
    struct client *client = call->client;

    for (size_t i = 1; i < call->argc; i++) {
        if (find_channel(client, call->argv[i]) == client->channel_count) {
            if (client->channel_count == MODEL_CHANNELS_MAX) {
                world_condemn(NOT_KNOWN, "the model of Redis takes no more than %d channels",
                              MODEL_CHANNELS_MAX);
                return;
            }
            client->channels[client->channel_count++] = bytes_copy(call->argv[i]);
        }
        reply_change(call, "subscribe", call->argv[i]);
    }
}

static void unsubscribe(struct call *call)
{
    struct client *client = call->client;

    for (size_t i = 1; i < call->argc; i++) {
        size_t at = find_channel(client, call->argv[i]);

        if (at < client->channel_count) {
            free(client->channels[at].at);
            client->channels[at] = client->channels[--client->channel_count];
        }
        reply_change(call, "unsubscribe", call->argv[i]);
    }
}

static int64_t count_listeners(const struct model *model, struct bytes channel)
{
    int64_t count = 0;

    for (const struct client *at = model->clients; at != NULL; at = at->next)
        count += find_channel(at, channel) < at->channel_count;
    return count;
}

int64_t model_publish(struct model *model, struct bytes channel, struct bytes message)
{
    struct buffer out = {0};
    int64_t count = 0;

    reply_array(&out, 3);
    reply_text(&out, "message");
    reply_bulk(&out, channel);
    reply_bulk(&out, message);
    for (struct client *at = model->clients; at != NULL; at = at->next)
        if (find_channel(at, channel) < at->channel_count) {
            at->send(at, (struct bytes){out.at, out.len});
            count++;
        }
    buffer_free(&out);
    return count;
}

static void publish(struct call *call)
{
    reply_integer(call->out, model_publish(call->model, call->argv[1], call->argv[2]));
}

static void pubsub(struct call *call)
{
    if (!bytes_is(call->argv[1], "NUMSUB")) {
        world_condemn(NOT_KNOWN, "the model of Redis does not know PUBSUB %.*s",
                      (int)call->argv[1].len, call->argv[1].at);
        return;
    }
    reply_array(call->out, (int64_t)(call->argc - 2) * 2);
    for (size_t i = 2; i < call->argc; i++) {
        reply_bulk(call->out, call->argv[i]);
        reply_integer(call->out, count_listeners(call->model, call->argv[i]));
    }
}

const struct command model_client_commands[] = {
    {"PING", ping, 1, false, true},
    {"UNWATCH", unwatch, 1, false, false},
    {"SUBSCRIBE", subscribe, -2, false, false},
    {"UNSUBSCRIBE", unsubscribe, -2, false, false},
    {"PUBLISH", publish, 3, false, true},
    {"PUBSUB", pubsub, -2, false, true},
    {NULL, NULL, 0, false, false},
};
