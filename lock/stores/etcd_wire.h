/* SPDX-License-Identifier: MIT */
/* etcd_wire.h -- POSTs by HTTP or HTTPS on kept connections, by libcurl.  Of etcd this
 * file knows the address only.
 *
 * With HTTPS libcurl always checks the chain, the dates and the name of the member's
 * certificate.  Each new connection reads the files of etcd_tls again.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_ETCD_WIRE_H
#define DLOCK_ETCD_WIRE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#include "lock/stores/etcd_address.h"

enum { ETCD_TOKEN_SIZE = 4096 }; /* a signed token is some hundred bytes */

struct etcd_wires; /* the connections of a system; opaque */

struct etcd_post {
    const char *member; /* "http://host:port" */
    const struct etcd_tls *tls;
    const char *path;
    const char *body;
    const char *token;  /* of a log-in, of less than ETCD_TOKEN_SIZE bytes; "": none */
};

/* The lists that a handle of libcurl borrows for a POST.  They begin as zero. */
struct etcd_lists {
    struct curl_slist *headers, *connect_to;
};

/* The outcome of a POST. */
struct etcd_answer {
    char *bytes; /* with a NUL behind them; NULL: none.  The caller's to free */
    size_t len;
    CURLcode code; /* CURLE_OK: this is the whole answer */
    long status;   /* of HTTP; 0: none */
    char words[CURL_ERROR_SIZE]; /* libcurl's error text; "": none */
    bool was_sent; /* at least a part of the request was sent */
    bool was_repeated; /* the connection was kept and had to be made anew, so the request may
                        * have left twice */
};

/* NULL: no memory. */
struct etcd_wires *etcd_wires_open(void);

/* Close the connections and free the memory.  No POST is under way.  NULL is fine. */
void etcd_wires_close(struct etcd_wires *wires);

/* Send the POST and wait at most limit_ms.  True: *out is the outcome.  False: no
 * memory, and nothing was sent. */
bool etcd_wire_post(struct etcd_wires *wires, const struct etcd_post *post, long limit_ms,
                    struct etcd_answer *out);

/* Prepare the new handle `easy` for the POST, whose body has to live as long as `easy`.
 * The caller frees *lists after `easy`, whatever the answer.  False: no memory. */
bool etcd_wire_prepare(CURL *easy, const struct etcd_post *post, struct etcd_lists *lists);

void etcd_lists_free(struct etcd_lists *lists);

#endif /* DLOCK_ETCD_WIRE_H */
