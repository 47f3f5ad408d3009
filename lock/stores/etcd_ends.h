/* SPDX-License-Identifier: MIT */
/* etcd_ends.h -- the last keys of a lock that ended: for waiters that come after the end that they
 * wait for.
 *
 * A process hears of an end twice, and in any order: by the answer to its own request, and by
 * the watch of etcd, which tells all ends in the order of their revisions.
 *
 * Threads     The caller keeps two from using the same ends at once. */
#ifndef DLOCK_ETCD_ENDS_H
#define DLOCK_ETCD_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ETCD_ENDS_KEPT = 64 };

/* The end of a key. */
struct etcd_end {
    uint64_t lease;    /* of the key                          */
    uint64_t created;  /* its create revision; 0: not known   */
    uint64_t revision; /* that deleted it                     */
};

/* Zeros are the ends since the beginning of time, of which there is none. */
struct etcd_ends {
    uint64_t complete; /* every end after this revision is kept, or will be noted */
    struct etcd_end kept[ETCD_ENDS_KEPT];
    bool is_told[ETCD_ENDS_KEPT]; /* by the watch */
    size_t count; /* of all time: the oldest are overwritten */
};

/* Forget all ends, and take for granted that there was none after that revision. */
void etcd_ends_begin(struct etcd_ends *ends, uint64_t revision);

/* Note an end, which may be known already.  `is_told`: the watch tells of it. */
void etcd_ends_note(struct etcd_ends *ends, const struct etcd_end *end, bool is_told);

/* Is an end of the key with that lease kept that came after the revision? */
bool etcd_ends_have(const struct etcd_ends *ends, uint64_t lease, uint64_t revision);

/* The revision of the last end of a key with that lease that is kept; 0: none is. */
uint64_t etcd_ends_last(const struct etcd_ends *ends, uint64_t lease);

/* How many keys older than `created` ended after the revision, as far as the watch has told?
 * -1: not all of these ends are kept. */
int64_t etcd_ends_before(const struct etcd_ends *ends, uint64_t created, uint64_t revision);

#endif /* DLOCK_ETCD_ENDS_H */
