/* SPDX-License-Identifier: MIT */
/* readiness.h -- probes the lock's store, each PostgreSQL, and the Redis of the admission and
 * of the stream: can the service take orders now?  Logs the begin and the end of each outage.
 *
 * A probe does a harmless part of what an order does.  The probe of the lock asks for the
 * rights that the lock needs, and takes and releases locks of the service's variant, under
 * names that no order has.  The probe of PostgreSQL reads one row, and asks if the database
 * accepts writes, and if the service has the rights that an order needs.  The probes of the
 * admission and of the stream send a write.  Each probe has its own thread, and connections
 * that no order waits for, so neither a busy service nor a store that hangs delays the answer.
 *
 * A probe runs at most once a second, for any number of questions, and does not run
 * after a minute without a question.  The first question after such a pause waits for
 * the probe, at most a second.
 *
 * An outage begins when a request or a probe fails.  Then the probe runs until it succeeds and no
 * request has failed since it began: that ends the outage.
 *
 * Threads     Any thread may ask.
 */
#ifndef APP_READINESS_H
#define APP_READINESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "app/admission.h"
#include "app/config.h"

enum { READINESS_SAID_MAX = 400 };

struct readiness; /* opaque */
struct stream;

/* The stores that are asked, with their names on /readyz and /metrics. */
#define READINESS_STORES(X)                                                            \
    X(POSTGRESQL, "postgresql")                                                        \
    X(LOCKS, "locks")                                                                  \
    X(ADMISSION, "admission")                                                          \
    X(STREAM, "stream")

enum readiness_store {
#define X(id, name) READINESS_##id,
    READINESS_STORES(X)
#undef X
    READINESS_STORE_COUNT
};

extern const char *const READINESS_NAMES[READINESS_STORE_COUNT];

/* The last answers of the probes. */
struct readiness_report {
    bool is_ready; /* every store of the service is "ok", but of several PostgreSQL only one
                    * has to be */
    /* "ok", or what is wrong; with several PostgreSQL, each that is not well.  "": the service has
     * no such store. */
    char said[READINESS_STORE_COUNT][READINESS_SAID_MAX];
};

static inline bool readiness_is_ok(const struct readiness_report *report, int store)
{
    return strcmp(report->said[store], "ok") == 0;
}

/* Start the threads; the settings, the count of failed requests, and the admission and the stream
 * (NULL: none), must outlive them.  NULL: no memory, or no thread. */
struct readiness *readiness_start(const struct config *c, const atomic_llong *failed,
                                  struct admission *admission, struct stream *stream);

/* End the threads, after a probe that is under way.  No thread may ask any more.  NULL
 * is fine. */
void readiness_stop(struct readiness *r);

/* Write the answers of the probes of the last second into *out.  If a probe has been
 * under way for 2 s, its store counts as not answering. */
void readiness_ask(struct readiness *r, struct readiness_report *out);

/* A request found that the store fails; or a call to the lock library answered `st`, which may
 * show that.  `partition` is of PostgreSQL.  Any thread. */
void readiness_fail(struct readiness *r, enum readiness_store store, size_t partition,
                    const char *why);
void readiness_judge(struct readiness *r, enum readiness_store store, dlock_status st);

#endif /* APP_READINESS_H */
