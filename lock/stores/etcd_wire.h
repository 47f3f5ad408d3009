/* SPDX-License-Identifier: MIT */
/* etcd_wire.h -- POSTs by HTTP on connections that are kept: libcurl, and nothing of etcd.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_WIRE_H
#define DLOCK_ETCD_WIRE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct etcd_wires; /* the connections of a system; opaque */

struct etcd_post {
    const char *member; /* "http://host:port" */
    const char *path;
    const char *body;
    const char *token;  /* of a log-in; "": none */
};

/* What came of a POST. */
struct etcd_answer {
    char *bytes; /* with a NUL behind them; NULL: none.  The caller's to free */
    size_t len;
    CURLcode code; /* CURLE_OK: this is the whole answer */
    bool was_sent; /* some of the request has left */
    bool was_repeated; /* the connection was kept and had to be made anew, so the request may
                        * have left twice */
};

/* NULL: no memory. */
struct etcd_wires *etcd_wires_open(void);

/* No POST is under way.  NULL is fine. */
void etcd_wires_close(struct etcd_wires *wires);

/* Send the POST and wait at most limit_ms.  False: no memory, and nothing was sent. */
bool etcd_wire_post(struct etcd_wires *wires, const struct etcd_post *post, long limit_ms,
                    struct etcd_answer *out);

/* Prepare `easy`, which is new, for the POST, whose body has to live as long.  The caller
 * frees *headers after it.  False: no memory. */
bool etcd_wire_prepare(CURL *easy, const struct etcd_post *post,
                       struct curl_slist **headers);

#endif /* DLOCK_ETCD_WIRE_H */
