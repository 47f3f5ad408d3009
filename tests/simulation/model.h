/* SPDX-License-Identifier: MIT */
/* model.h -- a model of one Redis server: commands in, replies out, without a wire.
 *
 * It does what redis-server 7.0 does for the commands that the lock library and its scripts
 * use; `make simulate-model` compares both.  A command that it does not know ends the seed
 * with its name.  The library's own scripts run in Lua 5.1, as in Redis. */
#ifndef SIMULATION_MODEL_H
#define SIMULATION_MODEL_H

#include "tests/simulation/keys.h"

enum { MODEL_ARGS_MAX = 32, MODEL_SCRIPTS_MAX = 64, MODEL_WATCHED_MAX = 8,
       MODEL_QUEUED_MAX = 48, MODEL_CHANNELS_MAX = 256 };

struct model;

/* What a server keeps of one client. */
struct client {
    struct model *model;
    struct client *next;
    void (*send)(struct client *client, struct bytes reply); /* what nobody asked for */
    struct bytes channels[MODEL_CHANNELS_MAX];
    size_t channel_count;
    struct watched {
        struct bytes name;
        bool was_over; /* it had ended before it was watched */
    } watched[MODEL_WATCHED_MAX];
    size_t watched_count;
    bool is_dirty;  /* a key that it watches has changed */
    bool has_begun; /* MULTI */
    bool has_failed; /* a command that MULTI queued was refused */
    struct queued {
        struct bytes argv[MODEL_ARGS_MAX];
        size_t argc;
    } queued[MODEL_QUEUED_MAX];
    size_t queued_count;
};

struct model {
    struct keys keys;
    struct client *clients;
    bool has_script[MODEL_SCRIPTS_MAX];
    bool is_full;  /* it refuses what needs memory */
    bool script_has_written; /* the script that runs */
    int64_t (*now_us)(const struct model *model); /* its wall clock */
    void *world;   /* for now_us() */
};

/* A command under way. */
struct call {
    struct model *model;
    struct client *client; /* NULL: a script calls */
    const struct bytes *argv;
    size_t argc;
    struct buffer *out;
};

void client_begin(struct client *client, struct model *model);
void client_end(struct client *client);

/* Execute the command of the client. */
void model_execute(struct client *client, const struct bytes *argv, size_t argc,
                   struct buffer *out);

/* Everything is gone but the data; or the data too; the clients have to be ended before. */
void model_restart(struct model *model, bool keeps_data);

/* ---- among the files of the model ---- */

typedef void command_fn(struct call *call);

struct command {
    const char *name;
    command_fn *run;
    int arity;    /* arguments with the name; negative: at least */
    bool writes;  /* it may need memory                          */
    bool in_script; /* a script may call it                      */
};

/* Each table ends with a row without a name. */
extern const struct command model_string_commands[], model_hash_commands[],
    model_list_commands[], model_sorted_commands[], model_key_commands[],
    model_client_commands[], model_script_commands[], model_stream_commands[],
    model_group_commands[];

/* Look up and run, for a client that asks at once or for a script. */
void model_call(struct call *call);
const struct command *model_command(struct bytes name);

int64_t model_now_ms(const struct model *model);

/* The key of a kind.  False: it is of another kind, which the reply says. */
bool model_find(struct call *call, struct bytes name, enum kind kind, struct key **out);

/* Of a key without parts: the key is gone. */
void model_shrink(struct call *call, const struct key *key);

/* Reply how many parts the key has; or remove those that the arguments name, and reply how many
 * there were. */
void model_count_parts(struct call *call, enum kind kind);
void model_remove_parts(struct call *call, enum kind kind);

/* The parts from one place to another, as the arguments 2 and 3 say; a negative place counts
 * from the end.  False: the reply says why there are none. */
struct span {
    struct key *key;     /* NULL: there is none, and count is 0 */
    int64_t from, count;
};
bool model_find_span(struct call *call, enum kind kind, struct span *out);

/* The key has changed: clients that watch it are told. */
void model_touch(struct model *model, struct bytes name);

/* An argument that has to be a whole number.  False: the reply says that it is none. */
bool model_number(struct call *call, size_t at, int64_t *out);

/* Tell the subscribers of a channel.  Answers how many there are. */
int64_t model_publish(struct model *model, struct bytes channel, struct bytes message);

/* Compile all that scripts need once for this process. */
void scripts_prepare(void);
void scripts_compile(const char *text);
void sha1_hex(struct bytes of, char out[41]);

#endif /* SIMULATION_MODEL_H */
