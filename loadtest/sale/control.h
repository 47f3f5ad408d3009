/* SPDX-License-Identifier: MIT */
/* control.h -- a page of memory that the laboratory shares with wrk's threads.
 *
 * 64-bit numbers; wrk/control.lua has the same layout.  Each number has one writer.
 */
#ifndef LOADTEST_SALE_CONTROL_H
#define LOADTEST_SALE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "loadtest/kit/buckets.h"

enum {
    CONTROL_SIZE = 57344,
    CONTROL_THREADS_MAX = 32,
    CONTROL_STOP = 0,    /* not zero: send no more, wait for the answers           */
    CONTROL_ERA = 1,     /* grows by 1 when the laboratory starts a new count      */
    CONTROL_TARGET = 2,  /* not zero: the user whose lock is the target            */
    CONTROL_THREAD = 16, /* thread i (from 1) has the numbers from 16 * i          */
    CONTROL_SENT = 0,
    CONTROL_ANSWERED = 1,
    CONTROL_ACCEPTED = 2, /* accepted, or queued                                      */
    CONTROL_SOLD_OUT = 3,
    CONTROL_OTHER = 4,
    CONTROL_FIRED_NS = 5, /* the time of its first request, by CLOCK_BOOTTIME        */
    CONTROL_BY_SIGNAL = 6, /* not zero: it had waited for the start signal           */
    CONTROL_TRIED = 7,    /* requests for the target that were sent, and to which the sale or
                           * the lock answered, in the ...                           */
    CONTROL_TRIED_ERA = 8, /* ... era that this number has                           */
    CONTROL_STALE = 9,    /* answers that a late write was refused; OTHER counts them too */
    CONTROL_RAN_OUT = 10, /* not zero: the thread's users have run out, see order.lua    */
    CONTROL_LATENCY = 1024,   /* thread i counts its accepted orders, by how long they took,
                               * in CONTROL_BUCKETS numbers for each thread from here on */
    CONTROL_BUCKETS = BUCKETS, /* as in kit/buckets.h, and in wrk/control.lua            */
};

struct control {
    volatile int64_t *page; /* NULL: none */
};

/* Make the file and map it.  False: errno says why. */
bool control_open(struct control *c, const char *path);
void control_close(struct control *c);

void control_stop(struct control *c);

/* Requests are for the target if they are this user's; 0: all are, as under a voucher's
 * lock.  A script that may choose its users sends every second request for the target. */
void control_aim(struct control *c, int64_t user);

/* Begin a new era. */
void control_begin_era(struct control *c);
/* The number of requests for the target that were sent in this era, and to which the sale or the
 * lock answered in this era.  An error, such as "unavailable", does not count. */
int64_t control_tried(const struct control *c);

/* A number of a thread. */
int64_t control_of(const struct control *c, int thread, int number);

/* Add 1 to a number of the thread.  For a load other than wrk, which runs in this process. */
void control_count(struct control *c, int thread, int number);
/* Replace the latencies of a thread. */
void control_set_latency(struct control *c, int thread, const int64_t buckets[CONTROL_BUCKETS]);

/* The sum of a number over all threads. */
int64_t control_sum(const struct control *c, int number);

/* Add what each bucket of latencies has counted over all threads to `buckets`. */
void control_add_latency(const struct control *c, int64_t buckets[CONTROL_BUCKETS]);

#endif /* LOADTEST_SALE_CONTROL_H */
