/* SPDX-License-Identifier: MIT */
/* lesson.h -- the ten lessons of the live page, from lessons.def.
 *
 * A lesson is a sale with fixed settings and a fault, which the laboratory injects at the right
 * moment.  The page asks a question before the sale, and the sale must give the lesson's answer.
 *
 * Threads     Any: all of it is constant.
 */
#ifndef LOADTEST_SHOW_LESSON_H
#define LOADTEST_SHOW_LESSON_H

#include <stdbool.h>

#include "loadtest/show/switches.h"

/* The outcomes of lessons: X(id, "name in the JSON"). */
#define LESSON_OUTCOMES(X)                                                             \
    X(UNCLEAR, "unclear")         /* the fault did not come about                    */ \
    X(SOUND, "sound")             /* as many orders as vouchers                      */ \
    X(OVERSOLD, "oversold")       /* more                                            */ \
    X(AT_ONCE, "at-once")         /* another process gets the lock of a dead one ... */ \
    X(AFTER_LEASE, "after-lease") /* ... when the lease has ended                    */ \
    X(NOBODY, "nobody")           /* ... or nobody does                              */ \
    X(OWN, "own")                 /* a late holder deletes its own lock ...          */ \
    X(NEXT, "next")               /* ... or that of the next holder                  */ \
    X(REDIS, "redis")             /* the late write is refused by Redis ...          */ \
    X(WATCHDOG, "watchdog")       /* ... by the watchdog ...                         */ \
    X(DATABASE, "database")       /* ... or by the voucher's row                     */

enum lesson_outcome {
#define X(id, name) LESSON_##id,
    LESSON_OUTCOMES(X)
#undef X
};

/* Its name; the outcome of a name, UNCLEAR if there is none. */
const char *lesson_outcome_name(enum lesson_outcome outcome);
enum lesson_outcome lesson_outcome_find(const char *name);

/* The fault that the laboratory gives. */
enum lesson_fault {
    LESSON_CALM,
    LESSON_CRASH,  /* a process dies between SETNX and EXPIRE                          */
    LESSON_DELETE, /* a holder's work outlives its lease, and it releases while the next
                    * holder works                                                     */
    LESSON_GAP,    /* the same, for a holder between its check and its delete          */
    LESSON_SLOW,   /* a holder's work outlives its lease                               */
    LESSON_FREEZE, /* a holder's process stops for longer than its lease               */
};

enum { LESSON_ANSWERS_MAX = 3, LESSON_ROUNDS_MAX = 2 };

struct lesson_text {
    const char *en, *zh;
};

struct lesson {
    const char *name;
    struct lesson_text title, question;
    struct {
        enum lesson_outcome outcome;
        struct lesson_text text;
    } answers[LESSON_ANSWERS_MAX]; /* of text NULL past the last                       */
    enum lesson_outcome comes;     /* the required outcome                             */
    enum lesson_fault fault;
    const char *locks[LESSON_ROUNDS_MAX]; /* a round for each; NULL past the last      */
    const char *stock_guard;
    int processes;
    int lease_ms;
    struct lesson_text happens;    /* what the laboratory does during the run          */
    struct lesson_text says;       /* the lesson, in one sentence                      */
    struct lesson_text article;    /* the line of the article                          */
    const char *command;           /* a command that shows the same step by step; "": none */
    struct lesson_text document;   /* to read on: its path in the repository           */
    struct lesson_text read;       /* the section of the document                      */
};

/* By its number, from 1 on; NULL: there is none. */
const struct lesson *lesson_at(int number);
int lesson_count(void);

int lesson_rounds(const struct lesson *lesson);

/* Is the outcome one that the lesson lets people choose? */
bool lesson_has_answer(const struct lesson *lesson, enum lesson_outcome outcome);

/* The settings of a round, from 0 on. */
struct show_switches lesson_switches(const struct lesson *lesson, int round);

/* A document that a lesson names, by its path in the repository.  The caller frees the text; NULL:
 * no lesson names it, or it does not lie beside this program. */
char *lesson_document(const char *path);

/* The lessons as the JSON of GET /api/lesson.  The caller frees the text. */
char *lesson_catalog(void);

#endif /* LOADTEST_SHOW_LESSON_H */
