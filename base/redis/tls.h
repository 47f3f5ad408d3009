/* SPDX-License-Identifier: MIT */
/* tls.h -- the certificates of one URL, which all its TLS streams (tls_stream.h) share,
 * by OpenSSL.
 *
 * The certificate of a server is always checked: its chain up to a trusted authority,
 * its dates, and the name or IP address of the URL. No option turns that off.  The
 * protocol is TLS 1.2 or newer.
 *
 * Only for base/redis/.
 *
 * Threads     Any. */
#ifndef BASE_REDIS_TLS_H
#define BASE_REDIS_TLS_H

#include <stdbool.h>

#include "base/redis/url.h"

/* Read the files that `url` names, and set url->tls; the caller frees it with
 * redis_tls_drop().  If a file cannot be read, every stream fails with the reason.  If
 * the URL is not encrypted, the call does nothing.  False: no memory. */
bool redis_tls_make(struct redis_url *url);
void redis_tls_drop(struct redis_url *url); /* no stream of it is open; it may have none */

/* The reason why no stream can be made; "": there is none. */
const char *redis_tls_why_not(const struct redis_tls *tls);

/* OpenSSL's SSL_CTX of it. */
struct ssl_ctx_st *redis_tls_context(const struct redis_tls *tls);

#endif /* BASE_REDIS_TLS_H */
