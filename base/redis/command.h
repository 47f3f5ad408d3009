/* SPDX-License-Identifier: MIT */
/* command.h -- a command, and how it is written on the wire.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_COMMAND_H
#define DLOCK_REDIS_COMMAND_H

#include <stddef.h>

#include "base/redis/shape.h"

enum { REDIS_ARGS_MAX = 12, REDIS_WIRE_ROOM = 1024 };

struct redis_command {
    int argc;
    const char *argv[REDIS_ARGS_MAX];
    enum redis_shape shape; /* of its answer */
};

/* A command as bytes; most fit into the room and cost no memory. */
struct redis_wire {
    char *bytes;
    size_t len;
    char room[REDIS_WIRE_ROOM];
};

/* Write `command` into `wire`.  False: no memory, and nothing is to be freed. */
_Bool redis_wire_write(struct redis_wire *wire, const struct redis_command *command);
void redis_wire_free(struct redis_wire *wire);

#endif /* DLOCK_REDIS_COMMAND_H */
