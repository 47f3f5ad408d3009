/* SPDX-License-Identifier: MIT */
/* nodes.h -- reads and changes the ZooKeeper of a variant without the library: with a session of
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

/* The number of nodes of the lock `name`: the holder's, and in a queue those of the waiters too. */
int nodes_count_of(const char *variant, const char *name);

bool nodes_exists(const char *path);

/* The data of the node, "" if it does not exist.  Valid until the next call. */
const char *nodes_data(const char *path);

/* The names of the node's children in the order of their numbers, with spaces between them; "" if
 * there are no children. Valid until the next call. */
const char *nodes_children(const char *path);

/* The number of nodes below the path, at any depth. */
int nodes_count_below(const char *path);

void nodes_delete(const char *path);

/* Make a node with this data, or write this data into it, as another client would. */
void nodes_make(const char *path, const char *data, int len);
void nodes_write(const char *path, const char *data, int len);

/* Take these rights to the node from all clients, and give them all others. */
enum { NODES_CREATE = 4, NODES_DELETE = 8 }; /* as ZooKeeper numbers them */
void nodes_forbid(const char *path, int permissions);

/* Delete the holder's node of the lock, as an operator would by hand. */
void nodes_remove(const char *variant, const char *name);

/* The server's number of the session that a system has now; and does the server know this
 * session? */
int64_t nodes_session(dlock_system *sys);
bool nodes_has_session(int64_t id);

/* The number of sessions that watch the node; and of its children the most sessions that watch one
 * child, and the sum over all children. */
int nodes_watchers(const char *path);
void nodes_child_watchers(const char *path, int *most, int *sum);

/* Make a directory of this law at the server's root, which is deleted after the law. */
const char *nodes_make_root(void);

/* End the session of a system, as the server would after a session timeout: a second client with
 * the session's number and password closes it. */
void nodes_expire(dlock_system *sys);

void nodes_stop(void);

#endif /* CONFORMANCE_NODES_H */
