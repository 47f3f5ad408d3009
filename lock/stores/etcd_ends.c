/* SPDX-License-Identifier: MIT */
/* etcd_ends.c -- the last keys of a lock that were deleted. */
#include "lock/stores/etcd_ends.h"

static size_t kept_count(const struct etcd_ends *ends)
{
    return ends->count < ETCD_ENDS_KEPT ? ends->count : ETCD_ENDS_KEPT;
}

void etcd_ends_begin(struct etcd_ends *ends, uint64_t revision)
{
    *ends = (struct etcd_ends){.complete = revision};
}

void etcd_ends_note(struct etcd_ends *ends, const struct etcd_end *end, bool is_told)
{
    size_t place = ends->count % ETCD_ENDS_KEPT;

    for (size_t i = 0; i < kept_count(ends); i++) {
        if (ends->kept[i].lease != end->lease || ends->kept[i].revision != end->revision)
            continue;
        ends->is_told[i] = ends->is_told[i] || is_told;
        return;
    }
    if (ends->count >= ETCD_ENDS_KEPT && ends->kept[place].revision > ends->complete)
        ends->complete = ends->kept[place].revision;
    ends->kept[place] = *end;
    ends->is_told[place] = is_told;
    ends->count++;
}

uint64_t etcd_ends_last(const struct etcd_ends *ends, uint64_t lease)
{
    uint64_t last = 0;

    for (size_t i = 0; i < kept_count(ends); i++)
        if (ends->kept[i].lease == lease && ends->kept[i].revision > last)
            last = ends->kept[i].revision;
    return last;
}

bool etcd_ends_have(const struct etcd_ends *ends, uint64_t lease, uint64_t revision)
{
    return etcd_ends_last(ends, lease) > revision;
}

int64_t etcd_ends_before(const struct etcd_ends *ends, uint64_t created, uint64_t revision)
{
    int64_t count = 0;

    if (ends->complete > revision)
        return -1;
    for (size_t i = 0; i < kept_count(ends); i++)
        count += ends->is_told[i] && ends->kept[i].revision > revision &&
                 ends->kept[i].created != 0 && ends->kept[i].created < created;
    return count;
}
