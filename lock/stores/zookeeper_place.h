/* SPDX-License-Identifier: MIT */
/* zookeeper_place.h -- one place in the queue for a lock: its node, and its position.
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
    bool is_watched;  /* its waiter is woken when the place may have moved up */
    bool has_to_look; /* the place may have moved up */
    int64_t look_at_ns; /* ask the server then in any case */
    char before[ZOOKEEPER_PATH_SIZE]; /* the node of the place before this one */
    UT_hash_handle hh;
};

/* Make a node with the claim's token, in the connected epoch that is the claim's note.
 * OK. UNKNOWN: there may be a node, which zookeeper_place_settle() finds.  IO,
 * PROTOCOL, NOMEM: there is no node. */
dlock_status zookeeper_place_take(struct zookeeper_session *session,
                                  struct zookeeper_place *place, dlock_claim *claim,
                                  int64_t deadline_ns);

/* Find the position of the place in the queue.  OK: it is the first.  BUSY: `before` is
 * the node before it.  LOST: the place is gone.  A failure: the position is not
 * known. */
dlock_status zookeeper_place_look(struct zookeeper_session *session,
                                  struct zookeeper_place *place, int64_t deadline_ns);

/* Is the queue empty?  An acquire that does not wait asks this first, so that a refusal
 * writes nothing.  OK: empty; BUSY: not empty; IO, PROTOCOL, NOMEM. */
dlock_status zookeeper_place_is_free(struct zookeeper_session *session,
                                     const struct zookeeper_place *place,
                                     int64_t deadline_ns);

/* PROTOCOL, with the name of a node in `dir` that is no place. */
dlock_status zookeeper_place_refuse(const char *dir, const char *node);

/* Write the data of the place's node. */
void zookeeper_place_describe(char data[ZOOKEEPER_DATA_SIZE], const dlock_claim *claim,
                              int level);

/* A zookeeper_settle_fn: delete the node with that token in the directory. */
zookeeper_settle_fn zookeeper_place_settle;

#endif /* DLOCK_ZOOKEEPER_PLACE_H */
