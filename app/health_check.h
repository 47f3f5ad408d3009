/* SPDX-License-Identifier: MIT */
/* health_check.h -- a question that a thread of its own asks, at most once a second.
 *
 * Threads     Any may ask; the question itself is asked by the check's thread.
 */
#ifndef APP_HEALTH_CHECK_H
#define APP_HEALTH_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/condition.h"
#include "base/os/thread.h"

enum { HEALTH_SAID_MAX = 400 };

/* Ask.  True: all is well; else `said` gets what is wrong. */
typedef bool health_check_question(void *arg, char said[HEALTH_SAID_MAX]);

struct health_check {
    health_check_question *question;
    void *arg;
    struct dlock_thread thread;
    bool has_thread;
    struct dlock_mutex mutex; /* of what follows */
    struct dlock_condition changed;
    bool is_ending;
    bool is_wanted;  /* somebody asked, and no check has begun since */
    bool is_running;
    bool is_waking;  /* somebody asked after a pause, and what is known is too old */
    int64_t begun_ns;
    int64_t ended_ns; /* 0: none has ended */
    int64_t asked_ns; /* when somebody asked last; 0: never */
    bool is_well;
    char said[HEALTH_SAID_MAX];
};

/* Begin.  False: no thread. */
bool health_check_start(struct health_check *p, health_check_question *question, void *arg);

/* End; a question that is under way is waited for.  A zeroed check is fine. */
void health_check_stop(struct health_check *p);

/* True: all was well when it was last asked.  Else `said` gets what is wrong. */
bool health_check_ask(struct health_check *p, char *said, size_t size);

#endif /* APP_HEALTH_CHECK_H */
