/* SPDX-License-Identifier: MIT */
/* refusal.h -- which errors of a server pass by themselves, and which last.
 *
 * refusals.def has the errors of all stores; the requests, the openings of connections
 * and the start of the service ask here.
 *
 * Threads     Any. */
#ifndef DLOCK_OS_REFUSAL_H
#define DLOCK_OS_REFUSAL_H

#include <stdint.h>

enum refusal { REFUSAL_LASTS, REFUSAL_PASSES, REFUSAL_UNDECIDED };

enum refusal_store {
    REFUSAL_REDIS,
    REFUSAL_POSTGRES,
    REFUSAL_ZOOKEEPER,
    REFUSAL_ETCD,
    REFUSAL_HTTP,
};

/* The meaning of an error of Redis (its text) or of PostgreSQL (its SQLSTATE). */
enum refusal refusal_of_text(enum refusal_store store, const char *text);

/* The meaning of an error of another store, which has a number. */
enum refusal refusal_of_number(enum refusal_store store, int64_t number);

#endif /* DLOCK_OS_REFUSAL_H */
