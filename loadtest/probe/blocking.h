/* SPDX-License-Identifier: MIT */
/* blocking.h -- blocking connections to Redis, as most programs have them: one command, one answer.
 *
 * The lock library is measured against these connections, and the bench asks the servers over them.
 *
 * Threads     One `blocking` belongs to one thread.
 * Errors      A call that fails says why on stderr.
 */
#ifndef LOADTEST_PROBE_BLOCKING_H
#define LOADTEST_PROBE_BLOCKING_H

#include <stdbool.h>
#include <stdint.h>

#include "loadtest/lab/lab.h"
#include "loadtest/probe/lock_commands.h"

enum { BLOCKING_NODES_MAX = LAB_COUNT_REDLOCK };

/* The database within the lab's Redis servers that the bench has for itself. */
enum { BLOCKING_DATABASE = 9 };

struct blocking; /* connections to one or more servers of a lab */

/* Connect to the servers of that role, which must be Redis servers.  NULL: it failed. */
struct blocking *blocking_open(const struct lab *lab, enum lab_role role);
/* NULL is fine. */
void blocking_close(struct blocking *b);

/* Prepare the commands by which `recipe` acquires and releases the lock `name`. */
bool blocking_prepare(struct blocking *b, const struct recipe *recipe,
                      const char *name);

/* Acquire the lock on all servers, and then release it on all.  Each command is sent to all servers
 * before the first answer is read.  False also if the lock is held already. */
bool blocking_pair(struct blocking *b);

/* The duration of a PING to the first server; -1: failed. */
int64_t blocking_ping_ns(struct blocking *b);

/* Remove all keys of the bench's database, on all servers. */
bool blocking_clear(struct blocking *b);

/* Load a script into the first server; `sha` gets its name there. */
bool blocking_load(struct blocking *b, const char *script, char sha[RECIPE_SHA_SIZE]);

/* Take `count` locks on the first server: `prefix` and twelve digits from 0 on. */
bool blocking_fill(struct blocking *b, const struct recipe *recipe, int64_t count,
                   const char *prefix, const char *holder);

#endif /* LOADTEST_PROBE_BLOCKING_H */
