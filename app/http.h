/* SPDX-License-Identifier: MIT */
/* http.h -- the service's two listeners, for orders and for operators. */
#ifndef APP_HTTP_H
#define APP_HTTP_H

#include "app/routes.h"

struct http; /* opaque */

/* Start both listeners.  NULL: the log says which could not be started. */
struct http *http_start(struct service *service);

/* The port of a listener. */
int http_port(const struct http *http, enum listener_kind listener);

/* Refuse new requests, and wait until the requests in flight are answered.  False:
 * `wait_ms` have passed, and some are not answered. */
bool http_drain(struct http *http, int64_t wait_ms);

/* Stop listening and end every thread.  No request may be in flight.  NULL is fine. */
void http_stop(struct http *http);

#endif /* APP_HTTP_H */
