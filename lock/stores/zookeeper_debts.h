/* SPDX-License-Identifier: MIT */
/* zookeeper_debts.h -- nodes that are to be deleted and could not be yet.
 *
 * A request that was not answered may have made a node, and a delete may not have come
 * through.  The session's keeper settles such a debt as soon as there is a
 * connection again; the end of the session settles it, too.
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

/* The way to find out whether a node is there that an unanswered request may have made: a
 * function of the caller, which deletes it. DONE, NO_NODE: nothing is owed any more. */
typedef enum zookeeper_result zookeeper_settle_fn(struct zookeeper_session *session,
                                                  uint64_t epoch, const char *path,
                                                  const char *token,
                                                  int64_t deadline_ns);

/* `path` and `token` (which may be NULL) are copied.  Without memory the debt is lost,
 * and the node stays until the session ends. */
void zookeeper_debts_owe(struct zookeeper_debts *debts, uint64_t epoch,
                         const char *path, const char *token,
                         zookeeper_settle_fn *settle);

/* A settle_fn for a node whose path is known. */
zookeeper_settle_fn zookeeper_settle_path;

bool zookeeper_debts_are_open(struct zookeeper_debts *debts);

/* For the keeper, connected in `epoch`: settle what can be settled. */
void zookeeper_debts_settle(struct zookeeper_debts *debts, uint64_t epoch);

#endif /* DLOCK_ZOOKEEPER_DEBTS_H */
