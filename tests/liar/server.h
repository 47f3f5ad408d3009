/* SPDX-License-Identifier: MIT */
/* server.h -- a server in front of a real Redis, which answers one command with a lie. */
#ifndef LIAR_SERVER_H
#define LIAR_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* Serve in front of the Redis at `redis_url`.  Answers the URL to connect to. */
const char *liar_start(const char *redis_url);
void liar_stop(void);

/* The `step`th command from now on, from 1, is executed, but answered with these bytes.
 * `then_close`: and hung up on. */
void liar_lie(int step, const char *bytes, size_t len, bool then_close);

/* How many commands came since, whether the lie was told, and to which command. */
int liar_command_count(void);
bool liar_has_lied(char verb[16]);

#endif /* LIAR_SERVER_H */
