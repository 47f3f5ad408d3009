/* SPDX-License-Identifier: MIT */
/* model.c -- finds and runs the commands of the model; transactions. */
#include "tests/simulation/model.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/world.h"

static const struct command *const tables[] = {
    model_string_commands, model_hash_commands,   model_list_commands, model_sorted_commands,
    model_key_commands,    model_client_commands, model_script_commands};

const struct command *model_command(struct bytes name)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct command *at = tables[i]; at->name != NULL; at++)
            if (bytes_is(name, at->name))
                return at;
    return NULL;
}

int64_t model_now_ms(const struct model *model)
{
    return model->now_us(model) / 1000;
}

bool model_find(struct call *call, struct bytes name, enum kind kind, struct key **out)
{
    *out = keys_find(&call->model->keys, name, model_now_ms(call->model));
    if (*out == NULL || (*out)->kind == kind)
        return true;
    reply_error(call->out,
                "WRONGTYPE Operation against a key holding the wrong kind of value");
    return false;
}

bool model_number(struct call *call, size_t at, int64_t *out)
{
    if (bytes_number(call->argv[at], out))
        return true;
    reply_error(call->out, "ERR value is not an integer or out of range");
    return false;
}

void model_touch(struct model *model, struct bytes name)
{
    for (struct client *client = model->clients; client != NULL; client = client->next)
        for (size_t i = 0; i < client->watched_count; i++)
            if (bytes_equal(client->watched[i].name, name))
                client->is_dirty = true;
}

/* A key that a client watches has expired. A key that had expired before it was watched counts as
 * absent, so it has not changed. */
static void touch_ended(struct keys *keys, struct bytes name)
{
    struct model *model = (struct model *)(void *)((char *)keys - offsetof(struct model, keys));

    for (struct client *client = model->clients; client != NULL; client = client->next)
        for (size_t i = 0; i < client->watched_count; i++) {
            if (!bytes_equal(client->watched[i].name, name))
                continue;
            if (!client->watched[i].was_over)
                client->is_dirty = true;
            client->watched[i].was_over = false;
        }
}

/* Is the command refused before it runs? If so, the reply says why. */
static bool is_refused(const struct call *call, const struct command *command)
{
    char text[128];
    char lower[32];
    size_t len = 0;

    if (command == NULL) {
        world_condemn(NOT_KNOWN, "the model of Redis does not know the command %.*s",
                      (int)call->argv[0].len, call->argv[0].at);
        reply_error(call->out, "ERR unknown command");
        return true;
    }
    if (command->arity < 0 ? call->argc < (size_t)-command->arity
                           : call->argc != (size_t)command->arity) {
        while (command->name[len] != '\0' && len + 1 < sizeof(lower)) {
            lower[len] = (char)tolower((unsigned char)command->name[len]);
            len++;
        }
        lower[len] = '\0';
        (void)snprintf(text, sizeof(text),
                       "ERR wrong number of arguments for '%s' command", lower);
        reply_error(call->out, text);
        return true;
    }
    if (command->writes && call->model->is_full &&
        !(call->client == NULL && call->model->script_has_written)) {
        reply_error(call->out,
                    "OOM command not allowed when used memory > 'maxmemory'.");
        return true;
    }
    return false;
}

/* Does the command change keys, or could it have changed keys? */
static bool is_write(const struct command *command)
{
    static const char *const frees[] = {"DEL", "PEXPIRE", "HDEL", "LPOP", "LREM", "ZREM"};

    for (size_t i = 0; i < sizeof(frees) / sizeof(frees[0]); i++)
        if (strcmp(command->name, frees[i]) == 0)
            return true;
    return command->writes;
}

/* A full server refuses the first write of a script. It lets a script that has already written go
 * on, so that no script stops half-way. */
void model_call(struct call *call)
{
    const struct command *command = model_command(call->argv[0]);

    world.account->commands++;
    if (is_refused(call, command))
        return;
    if (call->client == NULL && is_write(command))
        call->model->script_has_written = true;
    command->run(call);
}

/* ---- parts of hashes, lists and sorted sets ---- */

void model_shrink(struct call *call, const struct key *key)
{
    if (key->count == 0)
        (void)keys_remove(&call->model->keys, key->name);
}

void model_remove_parts(struct call *call, enum kind kind)
{
    struct key *key;
    int64_t count = 0;

    if (!model_find(call, call->argv[1], kind, &key))
        return;
    for (size_t i = 2; key != NULL && i < call->argc; i++) {
        size_t at = key_find(key, call->argv[i]);

        if (at == key->count)
            continue;
        key_remove(key, at);
        count++;
    }
    if (count > 0) {
        model_touch(call->model, call->argv[1]);
        model_shrink(call, key);
    }
    reply_integer(call->out, count);
}

bool model_find_span(struct call *call, enum kind kind, struct span *out)
{
    int64_t from, to, count;

    if (!model_number(call, 2, &from) || !model_number(call, 3, &to) ||
        !model_find(call, call->argv[1], kind, &out->key))
        return false;
    count = out->key != NULL ? (int64_t)out->key->count : 0;
    from = from < 0 ? from + count : from;
    to = to < 0 ? to + count : to;
    if (from < 0)
        from = 0;
    if (to >= count)
        to = count - 1;
    out->from = from;
    out->count = to < from ? 0 : to - from + 1;
    return true;
}

/* ---- transactions ---- */

static void forget_transaction(struct client *client)
{
    for (size_t i = 0; i < client->queued_count; i++)
        for (size_t j = 0; j < client->queued[i].argc; j++)
            free(client->queued[i].argv[j].at);
    for (size_t i = 0; i < client->watched_count; i++)
        free(client->watched[i].name.at);
    client->queued_count = 0;
    client->watched_count = 0;
    client->has_begun = client->has_failed = client->is_dirty = false;
}

static void queue(struct client *client, struct call *call)
{
    struct queued *queued;

    if (is_refused(call, model_command(call->argv[0]))) {
        client->has_failed = true;
        return;
    }
    if (client->queued_count == MODEL_QUEUED_MAX) {
        world_condemn(NOT_KNOWN, "the model of Redis takes no more than %d commands in MULTI",
                      MODEL_QUEUED_MAX);
        return;
    }
    queued = &client->queued[client->queued_count++];
    queued->argc = call->argc;
    for (size_t i = 0; i < call->argc; i++)
        queued->argv[i] = bytes_copy(call->argv[i]);
    reply_status(call->out, "QUEUED");
}

/* Has a watched key expired that existed when it was watched? */
static bool has_expired_watch(struct client *client)
{
    for (size_t i = 0; i < client->watched_count; i++) {
        const struct key *key = client->model->keys.first;

        while (key != NULL && !bytes_equal(key->name, client->watched[i].name))
            key = key->next;
        if (key != NULL && key->has_end && key->end_ms < model_now_ms(client->model) &&
            !client->watched[i].was_over)
            return true;
    }
    return false;
}

static void exec(struct client *client, struct buffer *out)
{
    if (client->has_failed) {
        reply_error(out, "EXECABORT Transaction discarded because of previous errors.");
    } else if (client->is_dirty || has_expired_watch(client)) {
        reply_nil_array(out);
    } else {
        reply_array(out, (int64_t)client->queued_count);
        for (size_t i = 0; i < client->queued_count; i++) {
            struct call call = {client->model, client, client->queued[i].argv,
                                client->queued[i].argc, out};

            model_call(&call);
        }
    }
    forget_transaction(client);
}

static bool is_watched(const struct client *client, struct bytes name)
{
    for (size_t i = 0; i < client->watched_count; i++)
        if (bytes_equal(client->watched[i].name, name))
            return true;
    return false;
}

static void watch(struct call *call)
{
    struct client *client = call->client;
    int64_t now_ms = model_now_ms(call->model);

    for (size_t i = 1; i < call->argc && client->watched_count < MODEL_WATCHED_MAX; i++) {
        struct watched *watched = &client->watched[client->watched_count];
        const struct key *key = call->model->keys.first;

        if (is_watched(client, call->argv[i]))
            continue;
        client->watched_count++;
        while (key != NULL && !bytes_equal(key->name, call->argv[i]))
            key = key->next;
        watched->name = bytes_copy(call->argv[i]);
        watched->was_over = key != NULL && key->has_end && key->end_ms < now_ms;
    }
    reply_status(call->out, "OK");
}

static bool is_transaction(struct client *client, struct call *call)
{
    struct bytes name = call->argv[0];
    bool begins = bytes_is(name, "MULTI"), ends = bytes_is(name, "EXEC");
    bool discards = bytes_is(name, "DISCARD"), watches = bytes_is(name, "WATCH");

    if (!begins && !ends && !discards && !watches && !bytes_is(name, "UNWATCH"))
        return false;
    if (begins && client->has_begun) {
        reply_error(call->out, "ERR MULTI calls can not be nested");
    } else if (begins) {
        client->has_begun = true;
        reply_status(call->out, "OK");
    } else if ((ends || discards) && !client->has_begun) {
        reply_error(call->out, ends ? "ERR EXEC without MULTI" : "ERR DISCARD without MULTI");
    } else if (ends) {
        exec(client, call->out);
    } else if (discards) {
        forget_transaction(client);
        reply_status(call->out, "OK");
    } else if (client->has_begun && watches) {
        reply_error(call->out, "ERR WATCH inside MULTI is not allowed");
    } else if (client->has_begun) {
        return false; /* the caller queues UNWATCH */
    } else if (watches) {
        watch(call);
    } else {
        forget_transaction(client);
        reply_status(call->out, "OK");
    }
    return true;
}

void model_execute(struct client *client, const struct bytes *argv, size_t argc,
                   struct buffer *out)
{
    struct call call = {client->model, client, argv, argc, out};

    if (is_transaction(client, &call))
        world.account->commands++;
    else if (client->has_begun)
        queue(client, &call);
    else
        model_call(&call);
}

/* ---- clients come and go; restarts ---- */

void client_begin(struct client *client, struct model *model)
{
    client->model = model;
    model->keys.ended = touch_ended;
    client->next = model->clients;
    model->clients = client;
}

void client_end(struct client *client)
{
    struct client **at = &client->model->clients;

    while (*at != NULL && *at != client)
        at = &(*at)->next;
    if (*at == NULL)
        return;
    *at = client->next;
    forget_transaction(client);
    for (size_t i = 0; i < client->channel_count; i++)
        free(client->channels[i].at);
    client->channel_count = 0;
}

void model_restart(struct model *model, bool keeps_data)
{
    if (!keeps_data)
        keys_clear(&model->keys);
    memset(model->has_script, 0, sizeof(model->has_script));
    model->is_full = false;
}
