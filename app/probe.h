/* SPDX-License-Identifier: MIT */
/* probe.h -- a question that a thread of its own asks, at most once a second.
 *
 * Threads     Any may ask; the question itself is asked by the probe's thread.
 */
#ifndef APP_PROBE_H
#define APP_PROBE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROBE_SAID_MAX = 400 };

/* Ask.  True: all is well; else `said` gets what is wrong. */
typedef bool probe_question(void *arg, char said[PROBE_SAID_MAX]);

struct probe {
    probe_question *question;
    void *arg;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    bool is_ending;
    bool is_wanted;  /* somebody asked, and no probe has begun since */
    bool is_running;
    bool is_waking;  /* somebody asked after a pause, and what is known is too old */
    int64_t begun_ns;
    int64_t ended_ns; /* 0: none has ended */
    int64_t asked_ns; /* when somebody asked last; 0: never */
    bool is_well;
    char said[PROBE_SAID_MAX];
};

/* Begin.  False: no thread. */
bool probe_start(struct probe *p, probe_question *question, void *arg);

/* End; a question that is under way is waited for.  A zeroed probe is fine. */
void probe_stop(struct probe *p);

/* True: all was well when it was last asked.  Else `said` gets what is wrong. */
bool probe_ask(struct probe *p, char *said, size_t size);

#endif /* APP_PROBE_H */
