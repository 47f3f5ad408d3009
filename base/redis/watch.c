/* SPDX-License-Identifier: MIT */
/* watch.c -- a thread that asks Sentinels for the master. */
#include "base/redis/watch.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/thread.h"
#include "base/redis/master.h"
#include "base/redis/question.h"

enum {
    ANSWER_MS = 300,  /* the time for a Sentinel to connect and to answer */
    ROUND_MS = 800,   /* the time for listening to all Sentinels together, in turn */
    PAUSE_MS = 100,   /* the pause after a Sentinel that does not answer */
};

struct redis_watch {
    const struct redis_url *url;
    void (*named)(void *arg);
    void *arg;
    struct redis_master master;
    uint64_t told_era; /* the last era for which `named` was called; only the thread
                        * uses it */
    int wake_fd;       /* raised for a new era, or to stop the thread */
    atomic_bool stopping;
    struct dlock_thread thread;
};

uint64_t redis_watch_era(const struct redis_watch *watch)
{
    return watch != NULL ? atomic_load(&watch->master.era) : 0;
}

bool redis_watch_is_elsewhere(const struct redis_watch *watch, const struct redis_conn *conn)
{
    return watch != NULL && conn->era != redis_watch_era(watch);
}

int redis_watch_first(struct redis_watch *watch)
{
    int first = atomic_load(&watch->master.first);

    atomic_store(&watch->master.first, (first + 1) % watch->url->sentinel_count);
    return first;
}

uint64_t redis_watch_hear(struct redis_watch *watch, int number, const struct redis_view *view)
{
    uint64_t before = redis_watch_era(watch);
    uint64_t era = redis_master_hear(&watch->master, number, view, dlock_clock_ns());

    if (era != 0)
        atomic_store(&watch->master.first, number);
    if (era > before)
        dlock_event_raise(watch->wake_fd, 1); /* the thread calls `named` */
    return era;
}

/* Call `named` if the era is new.  Only in the thread. */
static void tell(struct redis_watch *watch)
{
    uint64_t era = redis_watch_era(watch);

    if (era == watch->told_era)
        return;
    watch->told_era = era;
    watch->named(watch->arg);
}

static void on_wake(void *watch)
{
    tell(watch);
}

static struct redis_asker asker_of(struct redis_watch *watch)
{
    return (struct redis_asker){watch->wake_fd, &watch->stopping, on_wake, watch};
}

static bool ask(struct redis_watch *watch, struct redis_conn *conn,
                const struct redis_command *command, struct redis_said *said, int64_t until_ns)
{
    struct redis_asker asker = asker_of(watch);

    memset(said, 0, sizeof(*said));
    return redis_question_ask(&asker, conn, command, redis_said_part, said, until_ns);
}

/* Ask the Sentinel `number` for the master.  False: no usable answer. */
static bool learn(struct redis_watch *watch, struct redis_conn *conn, int number,
                  int64_t until_ns)
{
    struct redis_command epoch = redis_ask_epoch(watch->url->master_name);
    struct redis_command address = redis_ask_address(watch->url->master_name);
    struct redis_view view = {0};
    struct redis_said said;

    if (!ask(watch, conn, &epoch, &said, until_ns))
        return false;
    view.epoch = said.epoch;
    if (!ask(watch, conn, &address, &said, until_ns) || !redis_said_address(&said, &view.place))
        return false;
    (void)redis_watch_hear(watch, number, &view);
    tell(watch);
    return true;
}

/* Wait for a message of a fail-over.  False: none came until `until_ns`. */
static bool listen_to(struct redis_watch *watch, struct redis_conn *conn, int64_t until_ns)
{
    static const struct redis_command subscribe = {2, {"SUBSCRIBE", "+switch-master"},
                                                   REDIS_SHAPE_ANY};
    struct redis_asker asker = asker_of(watch);
    struct redis_said said = {0};

    redis_reader_hand_to(conn->reader, redis_said_part, &said);
    if (!redis_question_send(conn, &subscribe, until_ns))
        return false;
    while (redis_question_await(&asker, conn, until_ns))
        if (said.parts[0] != NULL && strcmp(said.parts[0], "message") == 0)
            return true;
    return false;
}

static void pause_a_while(struct redis_watch *watch)
{
    struct redis_asker asker = asker_of(watch);

    redis_asker_pause(&asker, dlock_clock_after(dlock_clock_ns(), PAUSE_MS), false);
}

/* Ask one Sentinel, and listen to it for a while.  Returns the index of the next
 * Sentinel: the same one after its message of a fail-over, because the others may not
 * know of it yet. */
static int attend(struct redis_watch *watch, int number)
{
    int64_t until_ns = dlock_clock_after(dlock_clock_ns(), ANSWER_MS);
    int listen_ms = ROUND_MS / watch->url->sentinel_count;
    int next = (number + 1) % watch->url->sentinel_count;
    struct redis_url sentinel;
    struct redis_conn *conn;
    bool knows = false;

    redis_sentinel_url(watch->url, number, &sentinel);
    conn = redis_conn_open(&sentinel);
    if (conn != NULL) {
        redis_conn_finish(conn, until_ns);
        knows = conn->state == REDIS_READY && learn(watch, conn, number, until_ns);
    }
    if (knows && listen_to(watch, conn, dlock_clock_after(dlock_clock_ns(), listen_ms)))
        next = number;
    redis_conn_close(conn);
    explicit_bzero(&sentinel, sizeof(sentinel));
    if (!knows)
        pause_a_while(watch);
    return next;
}

static void *run(void *arg)
{
    struct redis_watch *watch = arg;
    int number = 0;

    while (!atomic_load(&watch->stopping))
        number = attend(watch, number);
    return NULL;
}

bool redis_watch_open(struct redis_watch **out, const struct redis_url *url,
                      void (*named)(void *arg), void *arg)
{
    struct redis_watch *watch = calloc(1, sizeof(*watch));

    *out = watch;
    if (watch == NULL)
        return false;
    watch->url = url;
    watch->named = named;
    watch->arg = arg;
    redis_master_init(&watch->master, url->sentinel_count);
    watch->wake_fd = dlock_event_open();
    if (watch->wake_fd >= 0 && dlock_thread_start(&watch->thread, run, watch) == 0)
        return true;
    dlock_event_close(watch->wake_fd);
    redis_master_destroy(&watch->master);
    free(watch);
    *out = NULL;
    return false;
}

void redis_watch_close(struct redis_watch *watch)
{
    if (watch == NULL)
        return;
    atomic_store(&watch->stopping, true);
    dlock_event_raise(watch->wake_fd, 1);
    dlock_thread_join(&watch->thread);
    dlock_event_close(watch->wake_fd);
    redis_master_destroy(&watch->master);
    free(watch);
}
