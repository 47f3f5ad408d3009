/* SPDX-License-Identifier: MIT */
/* zookeeper_sole.h -- one node per name: who makes it has it, and deletes no other's.
 *
 * The node contains the token with which it was made.  A release reads the token first, and
 * deletes only the version that it read.  So a node that another owner has made by then,
 * because a person removed the first by hand, is left alone.  This does not survive a
 * removal by hand, and the making of the next node, both between the look and the delete
 * behind it (one round trip).  New nodes all have version 0, and the client library's
 * transactions, which could tell them apart, are not safe while a session ends.
 *
 * Threads     Any.
 */
#ifndef DLOCK_ZOOKEEPER_SOLE_H
#define DLOCK_ZOOKEEPER_SOLE_H

#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"

/* Make the node `path` for the claim, in the epoch of its note.  DONE, with its fence;
 * NODE_EXISTS; NO_NODE: the directory is gone; or a failure, of which dlock_error()
 * tells.  After UNKNOWN there may be a node, which zookeeper_sole_delete() finds. */
enum zookeeper_result zookeeper_sole_make(struct zookeeper_session *session,
                                          dlock_claim *claim, const char *path,
                                          int64_t deadline_ns);

/* A settle_fn: delete the node at `path` if it was made with that token.  NO_NODE: it
 * was not, or there is none. */
zookeeper_settle_fn zookeeper_sole_delete;

#endif /* DLOCK_ZOOKEEPER_SOLE_H */
