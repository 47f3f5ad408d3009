/* SPDX-License-Identifier: MIT */
/* etcd_txns.h -- transactions of many threads in few requests.
 *
 * A request by the JSON gateway costs etcd far more than what it asks for.  So while requests are
 * under way, the transactions of other threads gather, and go together as the parts of one
 * transaction.  etcd compares for all parts before it changes anything, and gives all of them one
 * revision: so the parts of one transaction are of different locks.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_TXNS_H
#define DLOCK_ETCD_TXNS_H

#include "lock/stores/etcd_http.h"

struct etcd_txns; /* of a system; opaque */

/* NULL: no memory. */
struct etcd_txns *etcd_txns_open(struct etcd_http *http);

/* No call is under way.  NULL is fine. */
void etcd_txns_close(struct etcd_txns *txns);

/* Execute the transaction `text`, which is about the lock `name`; it may be executed twice.  The
 * answers are those of etcd_http_ask(); *out has the answer to this transaction, with the
 * revision in its header. */
dlock_status etcd_txn_ask(struct etcd_txns *txns, const char *name, const char *text,
                          int64_t give_up_ns, struct etcd_reply *out);

#endif /* DLOCK_ETCD_TXNS_H */
