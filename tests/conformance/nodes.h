/* SPDX-License-Identifier: MIT */
/* nodes.h -- the ZooKeeper under a variant, seen past the library: with a session of
 * its own, and with the server's commands of four letters.
 *
 * Paths begin at the server's root. */
#ifndef CONFORMANCE_NODES_H
#define CONFORMANCE_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"

/* The node or directory that `variant` keeps for `name`.  Valid until the next call. */
const char *nodes_path(const char *variant, const char *name);

/* The number of nodes of the lock `name`: a holder's, and in a queue its waiters'. */
int nodes_count_of(const char *variant, const char *name);

bool nodes_exists(const char *path);

/* The data of the node, "" if it does not exist.  Valid until the next call. */
const char *nodes_data(const char *path);

/* The names of its children in the order of their numbers, with spaces between them; ""
 * if there are none.  Valid until the next call. */
const char *nodes_children(const char *path);

/* The number of nodes below it, at any depth. */
int nodes_count_below(const char *path);

void nodes_delete(const char *path);

/* Make a node with this data, or write this data into it, as another client would. */
void nodes_make(const char *path, const char *data, int len);
void nodes_write(const char *path, const char *data, int len);

/* Take the holder's node of the lock away, as somebody would by hand. */
void nodes_remove(const char *variant, const char *name);

/* The server's name for the session that a system has now; and does it know that? */
int64_t nodes_session(dlock_system *sys);
bool nodes_has_session(int64_t id);

/* The number of sessions that watch it; and the most that watch one of its children, and their
 * sum. */
int nodes_watchers(const char *path);
void nodes_child_watchers(const char *path, int *most, int *sum);

/* A directory of one's own at the server's root, which goes with the law. */
const char *nodes_make_root(void);

/* End the session of a system as the server would if it had heard nothing of it: a
 * second client with its name and password closes it. */
void nodes_expire(dlock_system *sys);

void nodes_stop(void);

#endif /* CONFORMANCE_NODES_H */
