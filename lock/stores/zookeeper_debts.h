/* SPDX-License-Identifier: MIT */
/* zookeeper_debts.h -- nodes that have to be deleted and could not be deleted yet.
 *
 * An unanswered request may have made a node, and a delete may have been lost, or
 * refused.  The session's keeper deletes such a node as soon as there is a connection
 * again and the server allows it.  The end of the session deletes the node too.
 *
 * Threads     Any.
 */
#ifndef DLOCK_ZOOKEEPER_DEBTS_H
#define DLOCK_ZOOKEEPER_DEBTS_H

#include "lock/stores/zookeeper_call.h"

struct zookeeper_debts; /* opaque */

/* NULL: no memory. */
struct zookeeper_debts *zookeeper_debts_open(struct zookeeper_session *session);
void zookeeper_debts_close(struct zookeeper_debts *debts);

/* A function of the caller that finds the node that an unanswered request may have
 * made, and deletes it.  DONE, NO_NODE: the debt is settled. */
typedef enum zookeeper_result zookeeper_settle_fn(struct zookeeper_session *session,
                                                  uint64_t epoch, const char *path,
                                                  const char *token,
                                                  int64_t deadline_ns);

/* Add a debt.  `path` and `token` (which may be NULL) are copied.  Without memory the
 * debt is lost, and the node stays until the session ends. */
void zookeeper_debts_owe(struct zookeeper_debts *debts, uint64_t epoch,
                         const char *path, const char *token,
                         zookeeper_settle_fn *settle);

/* A zookeeper_settle_fn for a node whose path is known. */
zookeeper_settle_fn zookeeper_settle_path;

bool zookeeper_debts_are_open(struct zookeeper_debts *debts);

/* Settle debts until one cannot be settled, which goes behind the others.  Only the
 * keeper calls this, connected in `epoch`. */
void zookeeper_debts_settle(struct zookeeper_debts *debts, uint64_t epoch);

#endif /* DLOCK_ZOOKEEPER_DEBTS_H */
