/* SPDX-License-Identifier: MIT */
/* servers.h -- reads and changes the Redis servers of a variant directly, without the
 * library.
 *
 * Most laws use the servers of the environment.  A law that stops, cuts or pauses one
 * starts its own: on Unix sockets, so that no port can be taken. */
#ifndef CONFORMANCE_SERVERS_H
#define CONFORMANCE_SERVERS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"

enum { SERVERS_MAX = 5 };

/* The servers that `opts` use: 0, 1, or redlock's nodes.  Connects to them. */
size_t servers_find(const dlock_options *opts);
size_t servers_found(void);

/* Start servers of one's own for the variant of `opts` and point `opts` to them. */
void servers_start(dlock_options *opts);

/* The same, and their wall clocks are ahead of the machine's by what is set, 0 at first.
 * Their monotonic clocks are not. */
void servers_start_with_clock(dlock_options *opts);
void servers_set_clock(int64_t ahead_ms);

/* Signals to those: SIGSTOP, SIGCONT, SIGKILL. */
void servers_signal(size_t first, size_t count, int signal_number);

/* Start again one that was killed. */
void servers_restart(size_t which);

/* All of them, which come up beside each other. */
void servers_restart_all(void);

/* Let all of them run (before systems are closed), and end them all. */
void servers_wake(void);
void servers_stop(void);

/* A command to one of the servers found.  The reply is freed by the next command. */
const redisReply *servers_tell(size_t which, const char *fmt, ...);

/* An integer reply; and the same summed over all servers found. */
long long servers_ask(size_t which, const char *fmt, ...);
long long servers_count_keys(const char *name);

/* On how many servers is the lock held?  The keys, but for those of `getset` that have
 * ended by the wall clock. */
long long servers_count_held(const char *variant, const char *name);

#endif /* CONFORMANCE_SERVERS_H */
