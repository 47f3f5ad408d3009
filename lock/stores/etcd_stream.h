/* SPDX-License-Identifier: MIT */
/* etcd_stream.h -- one watch of etcd: an HTTP answer that does not end, with a line of
 * JSON for each message.
 *
 * Threads     One thread at a time uses a stream, and the functions of etcd_news are
 *             called in that thread. */
#ifndef DLOCK_ETCD_STREAM_H
#define DLOCK_ETCD_STREAM_H

#include "lock/stores/etcd_ends.h"
#include "lock/stores/etcd_http.h"

struct etcd_stream; /* opaque */

/* The functions of the user that a stream calls. */
struct etcd_news {
    /* These `count` keys, perhaps none, were deleted in this order.  All deletions up
     * to `revision` have now been reported. */
    void (*told)(void *arg, const struct etcd_end *ends, size_t count, uint64_t revision);
    /* etcd has compacted all changes before `revision`, so deletions before it may be
     * missing. */
    void (*forgotten)(void *arg, uint64_t revision);
    void *arg;
};

/* Begin to watch the deletions of the keys of the lock `name` after `revision`, as a
 * transfer of the libcurl handle `multi`.  NULL: no memory, or libcurl refused. */
struct etcd_stream *etcd_stream_begin(struct etcd_http *http, CURLM *multi, const char *name,
                                      uint64_t revision, const struct etcd_news *news);

/* The stream of a transfer of `multi`. */
struct etcd_stream *etcd_stream_of(CURL *easy);

/* The transfer of the stream ended: ask another member next. */
void etcd_stream_broke(struct etcd_stream *stream);

/* End the watch and free it.  NULL is fine. */
void etcd_stream_end(struct etcd_stream *stream);

#endif /* DLOCK_ETCD_STREAM_H */
