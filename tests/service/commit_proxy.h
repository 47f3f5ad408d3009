/* SPDX-License-Identifier: MIT */
/* commit_proxy.h -- a proxy before PostgreSQL that drops one COMMIT, or the answer to
 * one.
 *
 * There is one proxy at a time.
 *
 * Threads     The test's main one; the proxy has a thread of its own.
 */
#ifndef TESTS_SERVICE_COMMIT_PROXY_H
#define TESTS_SERVICE_COMMIT_PROXY_H

#include <stddef.h>

/* The fault of the next COMMIT that fits; after that the mode is PASS again. */
enum commit_mode {
    PASS,          /* everything */
    DROP_ANSWER,   /* COMMIT goes through; its answer is lost and the client cut off */
    DROP_COMMIT,   /* COMMIT is lost and the client cut off; the server hears nothing */
    DROP_AND_SHUT, /* the same, and nobody can connect again */
    ANSWER_AND_SHUT, /* COMMIT goes through, the answer is lost, nobody can connect */
};

/* Start it; `flag` gets --database-url=..., which leads here. */
void commit_proxy_start(char *flag, size_t size);

/* End it.  Its clients must have hung up, or be about to. */
void commit_proxy_stop(void);

void commit_proxy_set(enum commit_mode mode);

/* The number of clients that were cut off since the start. */
int commit_proxy_dropped(void);

/* Let clients connect again. */
void commit_proxy_open(void);

/* Hang up at the server's end of what was cut off at the client's. */
void commit_proxy_end_orphans(void);

#endif /* TESTS_SERVICE_COMMIT_PROXY_H */
