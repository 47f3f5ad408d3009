/* SPDX-License-Identifier: MIT */
/* command.h -- a command, and its bytes in the protocol.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_COMMAND_H
#define DLOCK_REDIS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/fiber.h"
#include "base/redis/shape.h"

enum { REDIS_ARGS_MAX = 16, REDIS_WRITTEN_ROOM = 1024 };

struct redis_command {
    int argc;
    const char *argv[REDIS_ARGS_MAX];
    const struct redis_shape *shape; /* of its answer */
};

/* The bytes of a command.  Most commands fit into `room`, and need no allocation. */
struct redis_written {
    char *bytes;
    size_t len;
    char room[REDIS_WRITTEN_ROOM];
};

/* Write the bytes of `command` into *out; the caller frees them with
 * redis_written_free().  False: no memory, and there is nothing to free. */
bool redis_command_write(struct redis_written *out, const struct redis_command *command);
void redis_written_free(struct redis_written *written);

/* The first key of the command, by which a cluster finds the node for it; NULL: it has none. */
const char *redis_command_key(const struct redis_command *command);

extern _Thread_local uint64_t redis_commands_sent;

/* The number of commands that the calling thread or fiber has sent to servers, since its
 * start. */
static inline uint64_t *redis_commands_here(void)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    return fiber != NULL ? &fiber->tallies[0] : &redis_commands_sent;
}

#endif /* DLOCK_REDIS_COMMAND_H */
