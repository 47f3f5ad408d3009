/* SPDX-License-Identifier: MIT */
/* tls.h -- what all streams of TLS (tls_stream.h) of one URL share, by OpenSSL: whom the URL
 * trusts, and who this client is.
 *
 * The certificate of a server is always checked: its chain up to an authority that is trusted,
 * its dates, and the name or IP address that was asked for.  Nothing turns that off.  At least
 * TLS 1.2 is spoken.
 *
 * Only for this room.
 *
 * Threads     Any. */
#ifndef BASE_REDIS_TLS_H
#define BASE_REDIS_TLS_H

#include <stdbool.h>

#include "base/redis/url.h"

/* Read the files that `url` names and set url->tls, which is to be dropped.  A file that cannot
 * be read makes every stream fail with the reason.  Nothing happens where the URL is not of TLS.
 * False: no memory. */
bool redis_tls_make(struct redis_url *url);
void redis_tls_drop(struct redis_url *url); /* no stream of it is open; it may have none */

/* Why no stream can be begun; "": it can. */
const char *redis_tls_why_not(const struct redis_tls *tls);

/* OpenSSL's SSL_CTX of it. */
struct ssl_ctx_st *redis_tls_context(const struct redis_tls *tls);

#endif /* BASE_REDIS_TLS_H */
