/* SPDX-License-Identifier: MIT */
/* question.c -- one command at a time, with a wait that another thread can end. */
#include "base/redis/question.h"

#include "base/os/clock.h"

static void look_around(const struct redis_asker *asker)
{
    if (asker->woken != NULL)
        asker->woken(asker->arg);
}

bool redis_question_send(struct redis_conn *conn, const struct redis_command *command,
                         int64_t until_ns)
{
    struct redis_written written;
    size_t sent = 0;

    if (!redis_command_write(&written, command))
        return false;
    while (redis_conn_send(conn, written.bytes, written.len, &sent) && sent < written.len &&
           dlock_clock_ns() < until_ns)
        redis_conn_wait(conn, REDIS_WIRE_CAN_SEND, until_ns);
    redis_written_free(&written);
    return sent == written.len;
}

bool redis_question_await(const struct redis_asker *asker, struct redis_conn *conn,
                          int64_t until_ns)
{
    while (!atomic_load(asker->stopping)) {
        struct redis_wire_look look = {.wire = conn->wire, .wanted = REDIS_WIRE_CAN_RECEIVE};

        look_around(asker);
        if (redis_conn_read_one(conn))
            return true;
        if (conn->state == REDIS_BROKEN || dlock_clock_ns() >= until_ns)
            return false;
        (void)redis_wire_wait(&look, 1, asker->wake_fd, until_ns);
        (void)redis_conn_feed(conn);
    }
    return false;
}

bool redis_question_ask(const struct redis_asker *asker, struct redis_conn *conn,
                        const struct redis_command *command, redis_part_fn *take, void *arg,
                        int64_t until_ns)
{
    redis_reader_hand_to(conn->reader, take, arg);
    return redis_question_send(conn, command, until_ns) &&
           redis_question_await(asker, conn, until_ns);
}

void redis_asker_pause(const struct redis_asker *asker, int64_t until_ns, bool ends_early)
{
    struct redis_wire_look none = {0};
    bool is_woken = false;

    while (!atomic_load(asker->stopping) && dlock_clock_ns() < until_ns &&
           !(is_woken && ends_early)) {
        look_around(asker);
        is_woken = redis_wire_wait(&none, 1, asker->wake_fd, until_ns);
    }
}
