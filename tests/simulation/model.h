/* SPDX-License-Identifier: MIT */
/* model.h -- a model of one Redis server: commands in, replies out, without a wire.
 *
 * The model does what redis-server 7.0 does for the commands that the lock library and its scripts
 * use; `make simulate-model` compares the two. A command that the model does not know ends the seed
 * and is named in its text. The library's own scripts run in Lua 5.1, as in Redis. */
#ifndef SIMULATION_MODEL_H
#define SIMULATION_MODEL_H

#include "tests/simulation/keys.h"

enum { MODEL_ARGS_MAX = 32, MODEL_SCRIPTS_MAX = 64, MODEL_WATCHED_MAX = 8,
       MODEL_QUEUED_MAX = 48, MODEL_CHANNELS_MAX = 256 };

struct model;

/* The state that a server keeps for one client. */
struct client {
    struct model *model;
    struct client *next;
    void (*send)(struct client *client, struct bytes reply); /* of a channel's messages */
    struct bytes channels[MODEL_CHANNELS_MAX];
    size_t channel_count;
    struct watched {
        struct bytes name;
        bool was_over; /* it had ended before it was watched */
    } watched[MODEL_WATCHED_MAX];
    size_t watched_count;
    bool is_dirty;  /* a key that the client watches has changed */
    bool has_begun; /* after MULTI */
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
    bool is_full;  /* refuses commands that need memory */
    bool script_has_written; /* the running script has written */
    int64_t (*now_us)(const struct model *model); /* its wall clock */
    void *world;   /* for now_us() */
};

/* A command that is being executed. */
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

/* Remove everything but the data, or also the data, as a restart does. The clients must have been
 * ended before. */
void model_restart(struct model *model, bool keeps_data);

/* Send `count` random sequences of commands to the model and to the server on the socket at `path`,
 * whose data is deleted. Returns true if all replies were the same. Ends the program with 69 if the
 * server cannot be reached. */
bool beside_play(const char *path, uint64_t first, uint64_t count);

/* ---- among the files of the model ---- */

typedef void command_fn(struct call *call);

struct command {
    const char *name;
    command_fn *run;
    int arity;    /* number of arguments with the name; negative: at least that many */
    bool writes;  /* may need memory */
    bool in_script; /* a script may call it */
};

/* Each table ends with a row that has no name. */
extern const struct command model_string_commands[], model_hash_commands[],
    model_list_commands[], model_sorted_commands[], model_key_commands[],
    model_client_commands[], model_script_commands[];

/* Find the command and run it, for a client outside of MULTI or for a script. */
void model_call(struct call *call);
const struct command *model_command(struct bytes name);

int64_t model_now_ms(const struct model *model);

/* Find a key and check its kind. Returns false if the key is of another kind; the reply then says
 * so. */
bool model_find(struct call *call, struct bytes name, enum kind kind, struct key **out);

/* If the key has no parts any more, remove it. */
void model_shrink(struct call *call, const struct key *key);

/* Remove the parts that the arguments name, and reply how many existed. */
void model_remove_parts(struct call *call, enum kind kind);

/* The range of parts that the arguments 2 and 3 name; a negative index counts from the end. Returns
 * false if the arguments are no numbers; the reply then says so. */
struct span {
    struct key *key;     /* NULL: there is none, and count is 0 */
    int64_t from, count;
};
bool model_find_span(struct call *call, enum kind kind, struct span *out);

/* Note that the key has changed, for the clients that watch it. */
void model_touch(struct model *model, struct bytes name);

/* Read an argument that has to be a whole number. Returns false if it is none; the reply then says
 * so. */
bool model_number(struct call *call, size_t at, int64_t *out);

/* Send the message to the subscribers of the channel, and return their number. */
int64_t model_publish(struct model *model, struct bytes channel, struct bytes message);

/* Compile, once for this process, all scripts that the library uses. */
void scripts_prepare(void);
void scripts_compile(const char *text);
void sha1_hex(struct bytes of, char out[41]);

#endif /* SIMULATION_MODEL_H */
