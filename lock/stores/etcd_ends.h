/* SPDX-License-Identifier: MIT */
/* etcd_ends.h -- the last keys of a lock that were deleted, for waiters that begin to
 * wait for a deletion after it has happened.
 *
 * A process learns of a deletion twice, and in any order: by the answer to its own
 * request, and by the watch of etcd, which reports all deletions in the order of their
 * revisions.
 *
 * Threads     The caller lets one thread at a time use the same ends. */
#ifndef DLOCK_ETCD_ENDS_H
#define DLOCK_ETCD_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ETCD_ENDS_KEPT = 64 };

/* The deletion of a key. */
struct etcd_end {
    uint64_t lease;    /* of the key                          */
    uint64_t created;  /* its create revision; 0: not known   */
    uint64_t revision; /* of the deletion                     */
};

/* Begins as {0}, which is a history without deletions. */
struct etcd_ends {
    uint64_t complete; /* every deletion after this revision is kept here, or will be
                        * noted */
    struct etcd_end kept[ETCD_ENDS_KEPT];
    bool is_told[ETCD_ENDS_KEPT]; /* the watch has reported it */
    size_t count; /* of all noted deletions; the oldest are overwritten */
};

/* Forget all deletions.  The caller knows that there was none after `revision`. */
void etcd_ends_begin(struct etcd_ends *ends, uint64_t revision);

/* Note a deletion, which may be noted already.  `is_told`: the watch reported it. */
void etcd_ends_note(struct etcd_ends *ends, const struct etcd_end *end, bool is_told);

/* Is a deletion of the key with this lease noted that came after `revision`? */
bool etcd_ends_have(const struct etcd_ends *ends, uint64_t lease, uint64_t revision);

/* The revision of the last noted deletion of a key with this lease; 0: none is
 * noted. */
uint64_t etcd_ends_last(const struct etcd_ends *ends, uint64_t lease);

/* The number of keys older than `created` that were deleted after `revision`, as far as
 * the watch has reported. -1: some of these deletions are not kept any more. */
int64_t etcd_ends_before(const struct etcd_ends *ends, uint64_t created, uint64_t revision);

#endif /* DLOCK_ETCD_ENDS_H */
