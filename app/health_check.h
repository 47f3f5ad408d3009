/* SPDX-License-Identifier: MIT */
/* health_check.h -- a thread that asks a question at most once a second, and keeps the
 * answer.
 *
 * Threads     Any thread may call health_check_ask(); the check's thread asks the
 *             question.
 */
#ifndef APP_HEALTH_CHECK_H
#define APP_HEALTH_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/condition.h"
#include "base/os/thread.h"

enum { HEALTH_SAID_MAX = 400 };

/* The question.  True: all is well.  False: `said` says what is wrong. */
typedef bool health_check_question(void *arg, char said[HEALTH_SAID_MAX]);

struct health_check {
    health_check_question *question;
    void *arg;
    struct dlock_thread thread;
    bool has_thread;
    struct dlock_mutex mutex; /* of what follows */
    struct dlock_condition changed;
    bool is_ending;
    bool is_wanted;  /* health_check_ask() was called, and no check has begun since */
    bool is_running;
    bool is_waking;  /* health_check_ask() was called after a pause, and the answer is
                      * too old */
    int64_t begun_ns;
    int64_t ended_ns; /* 0: none has ended */
    int64_t asked_ns; /* when health_check_ask() was called last; 0: never */
    bool is_well;
    char said[HEALTH_SAID_MAX];
};

/* Start the thread.  False: no thread. */
bool health_check_start(struct health_check *p, health_check_question *question, void *arg);

/* End the thread, after a question that is under way.  A zeroed check is fine. */
void health_check_stop(struct health_check *p);

/* Get the last answer.  The first call after a minute without calls waits for a new
 * answer, at most a second.  True: all is well.  False: `said` says what is wrong, or
 * that the answer is missing: for 2 s, or at the end of that wait. */
bool health_check_ask(struct health_check *p, char *said, size_t size);

#endif /* APP_HEALTH_CHECK_H */
