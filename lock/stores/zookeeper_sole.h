/* SPDX-License-Identifier: MIT */
/* zookeeper_sole.h -- one node per name: the owner that makes it holds the lock, and
 * deletes no other owner's node.
 *
 * The node contains the token with which it was made.  A release reads the token first, and
 * deletes only the version that it read.  So if a person has deleted the node by hand
 * and another owner has made the next, the release does not delete that one.  One case
 * is not covered: the node is deleted by hand and the next is made between the read and
 * the delete (one round trip).  The versions cannot tell these two nodes apart, because
 * new nodes have version 0.  The client library's transactions could, but are not safe
 * while a session ends.
 *
 * Threads     Any.
 */
#ifndef DLOCK_ZOOKEEPER_SOLE_H
#define DLOCK_ZOOKEEPER_SOLE_H

#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"

/* Make the node `path` for the claim, in the epoch of its note.  DONE: the node is
 * made, and the claim has its fence; NODE_EXISTS; NO_NODE: the directory does not
 * exist; or a failure, whose reason is in dlock_error().  After UNKNOWN there may be a
 * node, which zookeeper_sole_delete() finds. */
enum zookeeper_result zookeeper_sole_make(struct zookeeper_session *session,
                                          dlock_claim *claim, const char *path,
                                          int64_t deadline_ns);

/* A zookeeper_settle_fn: delete the node at `path` if it was made with that token.
 * NO_NODE: it was made with another token, or there is no node. */
zookeeper_settle_fn zookeeper_sole_delete;

#endif /* DLOCK_ZOOKEEPER_SOLE_H */
