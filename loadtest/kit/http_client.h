/* SPDX-License-Identifier: MIT */
/* http_client.h -- short HTTP requests to the servers of a run: seckilld, HAProxy, etcd. */
#ifndef LOADTEST_KIT_HTTP_CLIENT_H
#define LOADTEST_KIT_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_CLIENT_TEXT_MAX = 8192, HTTP_CLIENT_TIMEOUT_MS = 15000, HTTP_CLIENT_ADDRESS_MAX = 64 };

struct http_answer {
    long status;                       /* 0: no answer                             */
    char text[HTTP_CLIENT_TEXT_MAX];   /* the body, or why there is no answer       */
    size_t size;
    char address[HTTP_CLIENT_ADDRESS_MAX]; /* "[127.0.0.1]:80" of the server, if it answered */
};

/* Send a request with this Bearer token; `method` is GET or POST (without a body).
 * False: no answer came. Connections are kept and used again.  To be called by one thread only. */
bool http_client_ask(const char *method, const char *url, const char *token,
                     struct http_answer *answer);

/* The same, waiting for the answer for no longer than `timeout_ms`. */
bool http_client_ask_within(const char *method, const char *url, const char *token,
                            int64_t timeout_ms, struct http_answer *answer);

/* GET a text of any length.  NULL: no answer came, or its status was not 200.  The caller
 * frees it. */
char *http_client_read(const char *url, const char *token, int64_t timeout_ms);

#endif /* LOADTEST_KIT_HTTP_CLIENT_H */
