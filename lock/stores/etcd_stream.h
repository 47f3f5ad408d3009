/* SPDX-License-Identifier: MIT */
/* etcd_stream.h -- one watch of etcd: an answer that does not end, a line of JSON for each
 * news.
 *
 * Threads     One at a time uses a stream, and its functions are called in that one. */
#ifndef DLOCK_ETCD_STREAM_H
#define DLOCK_ETCD_STREAM_H

#include "lock/stores/etcd_ends.h"
#include "lock/stores/etcd_http.h"

struct etcd_stream; /* opaque */

/* What a stream tells its user. */
struct etcd_news {
    /* These keys were deleted, in this order, perhaps none; and with them all is told that
     * happened up to that revision. */
    void (*told)(void *arg, const struct etcd_end *ends, size_t count, uint64_t revision);
    /* etcd has forgotten what came before that revision, and there is more to tell. */
    void (*forgotten)(void *arg, uint64_t revision);
    void *arg;
};

/* Begin to watch the deletions of the keys of the lock `name` after `revision`, as a transfer
 * of `multi`, whose handle the stream is a user of.  NULL: that is not possible now. */
struct etcd_stream *etcd_stream_begin(struct etcd_http *http, CURLM *multi, const char *name,
                                      uint64_t revision, const struct etcd_news *news);

/* The stream of a transfer of `multi`. */
struct etcd_stream *etcd_stream_of(CURL *easy);

/* The transfer of the stream ended by itself: ask another member next. */
void etcd_stream_broke(struct etcd_stream *stream);

/* NULL is fine. */
void etcd_stream_end(struct etcd_stream *stream);

#endif /* DLOCK_ETCD_STREAM_H */
