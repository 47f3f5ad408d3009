/* SPDX-License-Identifier: MIT */
/* link_receive.c -- reads answers, and gives them to the waiting threads. */
#include "base/os/scratch.h"
#include "base/redis/link_inside.h"

/* Give out the answers that were read.  False: an answer was superfluous or does not
 * fit its shape, or the connection was dropped meanwhile. */
static bool deliver(struct redis_link *link, uint64_t serial,
                    const struct redis_answer *answers, size_t count)
{
    if (link->serial != serial)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct redis_request request;
        struct redis_leg *leg;
        bool fits;

        if (redis_queue_count(&link->queue) == 0 ||
            !redis_queue_first_has_left(&link->queue, link->is_sending)) {
            redis_link_break_by(link, REDIS_NOT_DONE, "an answer to no command");
            return false;
        }
        request = redis_queue_pop(&link->queue);
        if (request.trip == NULL)
            continue;
        leg = request.trip->leg;
        leg->answer = answers[i];
        redis_link_judge_redirect(link, &leg->answer);
        fits = answers[i].outcome != REDIS_ANSWERED ||
               redis_shape_check(leg->shape, link->url.label, &leg->answer);
        redis_leg_end(link->group, request.trip);
        if (answers[i].not_master && link->watch != NULL) {
            redis_link_break_by(link, REDIS_NOT_DONE, "the server is no master any more");
            return false;
        }
        if (!fits) {
            redis_link_break_by(link, REDIS_NOT_DONE, "another answer did not fit its command");
            return false;
        }
    }
    if (count > 0)
        link->pause_ms = 0;
    redis_link_group_expect(link->group);
    return true;
}

/* The number of answers to give out at once: all, or half of them if they are more than
 * a batch, but at most a batch.  While the next answers are given out, the first
 * threads ask again.  From then on the halves alternate: the server works for one half
 * while the other runs here. */
static size_t batch_size(const struct redis_link *link)
{
    size_t half = (redis_queue_count(&link->queue) + 1) / 2;

    return half > REDIS_GROUP_BATCH_MAX / 2 && half < REDIS_GROUP_BATCH_MAX ? half
                                                                        : REDIS_GROUP_BATCH_MAX;
}

/* Read by `feed`, and give out the answers. */
static void hear(struct redis_link *link, bool feed(struct redis_conn *))
{
    DLOCK_SCRATCH struct redis_answer answers[REDIS_GROUP_BATCH_MAX];
    struct redis_conn *conn = redis_link_borrow(link);
    uint64_t serial = link->serial;
    size_t batch = batch_size(link);
    size_t count;
    bool goes_on;

    redis_link_group_unlock(link->group);
    goes_on = feed(conn);
    do {
        count = 0;
        while (goes_on && count < batch &&
               redis_conn_next_answer(conn, &answers[count]))
            count++;
        redis_link_group_lock(link->group);
        goes_on = deliver(link, serial, answers, count) && count == batch;
        if (goes_on)
            redis_link_group_unlock(link->group);
    } while (goes_on);
    if (link->serial == serial && conn->state == REDIS_BROKEN)
        redis_link_break(link, conn->outcome, conn->why, false);
    else if (link->serial == serial && redis_queue_count(&link->queue) == 0 &&
             redis_conn_has_leftover(conn))
        redis_link_break_by(link, REDIS_NOT_DONE, "an answer to no command");
    redis_conn_return(link, conn, serial);
}

void redis_link_hear(struct redis_link *link)
{
    hear(link, redis_conn_feed);
}

void redis_link_await(struct redis_link *link)
{
    hear(link, redis_conn_await);
}
