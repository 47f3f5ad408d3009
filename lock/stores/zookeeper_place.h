/* SPDX-License-Identifier: MIT */
/* zookeeper_place.h -- one place in the queue for a lock, as the server sees it.
 *
 * Threads     A place belongs to the thread whose claim it is.
 */
#ifndef DLOCK_ZOOKEEPER_PLACE_H
#define DLOCK_ZOOKEEPER_PLACE_H

#include "base/os/hash_table.h"
#include "lock/stores/zookeeper_call.h"
#include "lock/stores/zookeeper_debts.h"

enum { ZOOKEEPER_KEY_SIZE = DLOCK_OWNER_MAX + 1 + DLOCK_NAME_MAX + 1 };

struct zookeeper_place {
    char key[ZOOKEEPER_KEY_SIZE]; /* "owner name" */
    uint64_t epoch;
    char dir[ZOOKEEPER_PATH_SIZE];
    char path[ZOOKEEPER_PATH_SIZE]; /* of the node; "" if there is none */
    uint64_t czxid;
    bool is_watched;  /* its waiter is told when it may have moved up */
    bool has_to_look; /* it may have moved up */
    int64_t look_at_ns; /* look then in any case */
    char before[ZOOKEEPER_PATH_SIZE]; /* the node of who is before us */
    UT_hash_handle hh;
};

/* Take a place in an epoch that is connected, with a node of the claim's token; the
 * claim's note is that epoch.  OK.  UNKNOWN: there may be a node, which
 * zookeeper_place_settle() would find.  IO, PROTOCOL, NOMEM: there is none. */
dlock_status zookeeper_place_take(struct zookeeper_session *session,
                                  struct zookeeper_place *place, dlock_claim *claim,
                                  int64_t deadline_ns);

/* Look for the place in the queue.  OK: it is the first.  BUSY: `before` is the node before it.
 * LOST: there is no such place any more.  A failure: the place is not known. */
dlock_status zookeeper_place_look(struct zookeeper_session *session,
                                  struct zookeeper_place *place, int64_t deadline_ns);

/* Is nobody there?  An acquire that does not wait asks this first, so that refusals write nothing.
 * OK, BUSY, IO, PROTOCOL, NOMEM. */
dlock_status zookeeper_place_is_free(struct zookeeper_session *session,
                                     const struct zookeeper_place *place,
                                     int64_t deadline_ns);

/* PROTOCOL, with the name of a node in `dir` that is no place. */
dlock_status zookeeper_place_refuse(const char *dir, const char *node);

/* Write the text of the place's node. */
void zookeeper_place_describe(char data[ZOOKEEPER_DATA_SIZE], const dlock_claim *claim,
                              int level);

/* A settle_fn: delete what was made with that token in the directory. */
zookeeper_settle_fn zookeeper_place_settle;

#endif /* DLOCK_ZOOKEEPER_PLACE_H */
