/* SPDX-License-Identifier: MIT */
/* commit_proxy.h -- a proxy in front of PostgreSQL that drops one COMMIT, or the answer to one.
 *
 * A process has one such proxy.
 *
 * Threads     The main thread of the test; the proxy has a thread of its own.
 */
#ifndef TESTS_SERVICE_COMMIT_PROXY_H
#define TESTS_SERVICE_COMMIT_PROXY_H

#include <stddef.h>

/* The fault of the next COMMIT; after it the mode is PASS again. */
enum commit_mode {
    PASS,          /* everything passes */
    DROP_ANSWER,   /* COMMIT passes; its answer is dropped and the client is cut off */
    DROP_COMMIT,   /* COMMIT is dropped and the client is cut off; the server hears nothing */
    DROP_AND_SHUT, /* the same, and no client can connect again */
    ANSWER_AND_SHUT, /* COMMIT passes, the answer is dropped, no client can connect */
};

/* Start the proxy; `flag` gets --database-url=... with its address. */
void commit_proxy_start(char *flag, size_t size);

/* Stop the proxy. Its clients must have closed their connections, or be about to. */
void commit_proxy_stop(void);

void commit_proxy_set(enum commit_mode mode);

/* The number of clients that were cut off since the start. */
int commit_proxy_dropped(void);

/* Let clients connect again. */
void commit_proxy_open(void);

/* Close the server's ends of the connections whose clients were cut off. */
void commit_proxy_end_orphans(void);

#endif /* TESTS_SERVICE_COMMIT_PROXY_H */
