/* SPDX-License-Identifier: MIT */
/* question.h -- one command at a time on a connection of its own, with a wait that
 * another thread can end.  For the threads that watch Sentinels and clusters.
 *
 * Only for base/redis/.
 *
 * Threads     One at a time. */
#ifndef BASE_REDIS_QUESTION_H
#define BASE_REDIS_QUESTION_H

#include <stdatomic.h>

#include "base/redis/command.h"
#include "base/redis/connection.h"
#include "base/redis/reader.h"

/* The thread that asks, and what ends its waits. */
struct redis_asker {
    int wake_fd;                  /* an event (base/os/event.h) */
    const atomic_bool *stopping;  /* true: the thread has to end */
    void (*woken)(void *arg);     /* called before each sleep; NULL: no function */
    void *arg;
};

/* Send the command.  False: it could not be sent until `until_ns`, or there is no
 * memory. */
bool redis_question_send(struct redis_conn *conn, const struct redis_command *command,
                         int64_t until_ns);

/* Wait for one whole reply.  False: it did not come until `until_ns`, the connection
 * broke, or the thread has to end. */
bool redis_question_await(const struct redis_asker *asker, struct redis_conn *conn,
                          int64_t until_ns);

/* Send the command and wait for its reply; `take` gets the parts of the reply.  False:
 * as the two functions above. */
bool redis_question_ask(const struct redis_asker *asker, struct redis_conn *conn,
                        const struct redis_command *command, redis_part_fn *take, void *arg,
                        int64_t until_ns);

/* Sleep until `until_ns`, or until the thread has to end.  `ends_early`: a raise of
 * wake_fd ends the sleep too. */
void redis_asker_pause(const struct redis_asker *asker, int64_t until_ns, bool ends_early);

#endif /* BASE_REDIS_QUESTION_H */
