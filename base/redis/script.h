/* SPDX-License-Identifier: MIT */
/* script.h -- Lua scripts on Redis servers: called by hash, and by text if the server
 * does not know the hash.
 *
 * Threads     Any, once loaded. */
#ifndef DLOCK_REDIS_SCRIPT_H
#define DLOCK_REDIS_SCRIPT_H

#include "base/redis/link.h"

enum { REDIS_SHA_SIZE = 41, REDIS_KEY_COUNT_SIZE = 12 };

struct redis_script {
    const char *text;
    char sha[REDIS_SHA_SIZE]; /* "" until SCRIPT LOAD has answered it */
};

/* A call of a script: argv is the keys and then the arguments. */
struct redis_script_call {
    const struct redis_script *script;
    bool by_text; /* always send the text, for a request whose answer may not be read */
    int key_count;
    int argc;
    const char *argv[REDIS_ARGS_MAX - 3];
    const struct redis_shape *shape; /* of its answer */
};

/* As redis_exchange().  If a server does not know the script, a second round trip sends
 * the text.  That is safe, because the server has not executed an unknown script. */
void redis_script_exchange(struct redis_leg *legs, size_t leg_count,
                           const struct redis_script_call *call, int64_t give_up_ns);

/* As redis_link_post(), by hash.  If the server does not know the script,
 * answer.lacks_script is set, and the script was not executed. */
bool redis_script_post(struct redis_link *link, const struct redis_script_call *call,
                       struct redis_post *post);

/* Write the call as a command for the servers of `link` into `out`: by hash, or by text
 * for a server that lacks the script.  The command points into the call and into
 * `key_count`.  False: no memory. */
bool redis_script_command(struct redis_link *link, const struct redis_script_call *call,
                          bool by_text, char key_count[REDIS_KEY_COUNT_SIZE],
                          struct redis_command *out);

#endif /* DLOCK_REDIS_SCRIPT_H */
