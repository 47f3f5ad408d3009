/* SPDX-License-Identifier: MIT */
/* etcd_txns.h -- puts the transactions of many threads into few requests.
 *
 * A request to the JSON gateway costs etcd far more than the transaction in it.  So
 * while requests are under way, the transactions of other threads are collected, and
 * sent together as the parts of one transaction. etcd makes the comparisons of all
 * parts before it changes a key, and gives all parts one revision.  Therefore the parts
 * of one transaction belong to different locks.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_TXNS_H
#define DLOCK_ETCD_TXNS_H

#include "lock/stores/etcd_http.h"

struct etcd_txns; /* of a system; opaque */

/* NULL: no memory. */
struct etcd_txns *etcd_txns_open(struct etcd_http *http);

/* Free the struct.  No call is under way.  NULL is fine. */
void etcd_txns_close(struct etcd_txns *txns);

/* Execute the transaction `text` on keys of the lock `name`; etcd may execute it twice.
 * Answers as etcd_http_ask(); *out is the answer to this transaction alone, with the
 * revision in its header. */
dlock_status etcd_txn_ask(struct etcd_txns *txns, const char *name, const char *text,
                          int64_t give_up_ns, struct etcd_reply *out);

#endif /* DLOCK_ETCD_TXNS_H */
