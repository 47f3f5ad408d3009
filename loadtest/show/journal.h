/* SPDX-License-Identifier: MIT */
/* journal.h -- the events of the sale that is shown, the newest last.
 *
 * Threads     One at a time.
 */
#ifndef LOADTEST_SHOW_JOURNAL_H
#define LOADTEST_SHOW_JOURNAL_H

#include <jansson.h>
#include <stdint.h>

/* X(id, "kind in the JSON"); words.js has a sentence for each, docs/reference/show.md too. */
#define SHOW_EVENTS(X)                                                                 \
    X(OFFERED, "offered")       /* number: the stock                                 */ \
    X(STARTED, "started")       /* number: connections of the load                   */ \
    X(STARTED_RATED, "started-rated") /* number: orders a second of the load         */ \
    X(SOLD_OUT, "sold-out")     /* number: orders                                    */ \
    X(OVERSOLD, "oversold")     /* number: orders over the stock                     */ \
    X(LOST, "lost-update")      /* number: sold units that are in stock again        */ \
    X(DOUBLE, "double")         /* number: second orders of a user                   */ \
    X(REFUSED, "refused")       /* process, number: late writes that were refused    */ \
    X(ENDED, "ended")           /* number: orders                                    */ \
    X(ARMED, "armed")           /* the next holder is waited for                     */ \
    X(FROZEN, "frozen")         /* process, number: its fence                        */ \
    X(CONTINUED, "continued")   /* process                                           */ \
    X(SLOW, "slow")             /* process, number: its fence                        */ \
    X(SLOW_OVER, "slow-over")   /* process                                           */ \
    X(KILLED, "killed")         /* process                                           */ \
    X(RESTARTED, "restarted")   /* process, number: milliseconds that it took        */ \
    X(SECOND, "second-holder")  /* process: the store gave its lock to another       */ \
    X(DELETED, "deleted")       /* process: deleted the lock of process `number`     */ \
    X(MISSED, "missed")         /* no thread reached the point of the fault          */ \
    X(GAP, "in-gap")            /* process, number: its fence                        */ \
    X(GAP_OVER, "gap-over")     /* process                                           */ \
    X(CUT, "cut")               /* process: its wire to Redis is silent              */ \
    X(MENDED, "mended")         /* process                                           */ \
    X(SERVER_FAULT, "server-fault") /* fault, said                                   */ \
    X(SERVER_WELL, "server-well")   /* fault, said                                   */ \
    X(SERVER_ENDED, "server-ended") /* fault, said: a server ended without a fault   */ \
    X(SERVER_STARTED, "server-started") /* fault, said: it was started again         */ \
    X(MET_NOBODY, "met-nobody") /* fault, process: of kill; no holder lost its lock  */ \
    X(MET, "met")               /* the same, number: holders that lost their lock    */ \
    X(MET_UNKNOWN, "met-unknown") /* fault: whether it met a holder is not known     */ \
    X(FAILED, "failed")         /* a wish could not be carried out: said             */

enum show_event {
#define X(id, kind) JOURNAL_##id,
    SHOW_EVENTS(X)
#undef X
};

enum { SHOW_JOURNAL_MAX = 32, SHOW_SAID_MAX = 160 };

struct show_journal {
    struct {
        int64_t seq, at_ms, number;
        enum show_event event;
        int process;       /* from 1; 0: none                                        */
        const char *fault; /* the name of a fault; NULL: none                        */
        char said[SHOW_SAID_MAX]; /* what the server or the laboratory said, in English */
    } entries[SHOW_JOURNAL_MAX];
    int64_t count;   /* of all, the oldest of which are forgotten */
    int64_t begin_ns;
};

/* Add an event of now. */
void journal_add(struct show_journal *journal, enum show_event event, int process,
                 int64_t number);

/* The same with the name of a fault (static; NULL: none) and a message. */
void journal_add_said(struct show_journal *journal, enum show_event event, const char *fault,
                      const char *said);

/* The same of a fault, which is named so. */
void journal_add_of(struct show_journal *journal, enum show_event event, const char *fault,
                    int process, int64_t number);

/* The entries, oldest first; the caller owns them. */
json_t *journal_json(const struct show_journal *journal);

#endif /* LOADTEST_SHOW_JOURNAL_H */
