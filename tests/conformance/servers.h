/* SPDX-License-Identifier: MIT */
/* servers.h -- reads and changes the Redis servers of a variant directly, without the
 * library.
 *
 * Most laws use the servers of the environment. A law that stops, cuts or pauses a server starts
 * servers of its own: on Unix sockets, so that no other process can take their port. */
#ifndef CONFORMANCE_SERVERS_H
#define CONFORMANCE_SERVERS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"

enum { SERVERS_MAX = 5 };

/* Connect to the servers that `opts` use, and return their number: 0, 1, or the number of redlock's
 * nodes. */
size_t servers_find(const dlock_options *opts);
size_t servers_found(void);

/* Start servers for this law, as many as the variant of `opts` needs, and point `opts` to them. */
void servers_start(dlock_options *opts);

/* The same with servers whose wall clocks are ahead of the machine's by the value of
 * servers_set_clock(), 0 at first. Their monotonic clocks are not ahead. */
void servers_start_with_clock(dlock_options *opts);
void servers_set_clock(int64_t ahead_ms);

/* Send a signal to servers that servers_start() started: SIGSTOP, SIGCONT, SIGKILL. */
void servers_signal(size_t first, size_t count, int signal_number);

/* Start a killed server again. */
void servers_restart(size_t which);

/* The same for all servers, which start at the same time. */
void servers_restart_all(void);

/* Let all stopped servers run (before systems are closed); and stop all servers for good. */
void servers_wake(void);
void servers_stop(void);

/* Remove the files of the servers, which end with this process. A signal handler may call it. */
void servers_leave(void);

/* Send a command to one of the servers found. The next command frees the reply. */
const redisReply *servers_tell(size_t which, const char *fmt, ...);

/* Return an integer reply; and the number of keys of that name on all servers found. */
long long servers_ask(size_t which, const char *fmt, ...);
long long servers_count_keys(const char *name);

/* On how many servers is the lock held? A key of `getset` whose end has passed by the wall clock
 * does not count. */
long long servers_count_held(const char *variant, const char *name);

#endif /* CONFORMANCE_SERVERS_H */
