/* SPDX-License-Identifier: MIT */
/* thread_group.c -- threads that begin together and repeat one function. */
#include "loadtest/kit/thread_group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/duration.h"
#include "loadtest/kit/why.h"

struct work {
    const struct thread_group *group;
    pthread_barrier_t ready;
    bool is_timed;
    atomic_bool stop;
    atomic_bool failed;
    atomic_llong left; /* of thread_group_repeat()                                          */
};

/* Each thread's counter has a cache line or more of its own, so that threads that count do not
 * slow one another down. */
struct member {
    _Alignas(128) pthread_t thread;
    struct work *work;
    int index;
    int64_t done, missed;
};

static bool more(struct work *work)
{
    return work->is_timed ? !atomic_load(&work->stop)
                          : atomic_fetch_sub(&work->left, 1) > 0;
}

static void *run_member(void *opaque)
{
    struct member *member = opaque;
    struct work *work = member->work;
    const struct thread_group *group = work->group;
    enum thread_group_answer answer =
        work->is_timed ? group->once(group->arg, member->index) : THREAD_GROUP_DONE;

    pthread_barrier_wait(&work->ready);
    while (answer != THREAD_GROUP_FAILED && more(work) && !atomic_load(&work->failed)) {
        answer = group->once(group->arg, member->index);
        if (!atomic_load(&work->stop)) {
            member->done += answer == THREAD_GROUP_DONE;
            member->missed += answer == THREAD_GROUP_MISSED;
        }
    }
    if (answer == THREAD_GROUP_FAILED)
        atomic_store(&work->failed, true);
    return NULL;
}

/* Sleep in short pieces, so that a failure ends the wait. */
static void let_run(struct work *work, int64_t duration_ms)
{
    int64_t end_ns = monotonic_ns() + duration_ms * 1000000;
    int64_t left_ns;

    while ((left_ns = end_ns - monotonic_ns()) > 0 && !atomic_load(&work->failed)) {
        int64_t nap_ns = left_ns < 50000000 ? left_ns : 50000000;

        nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
    }
    atomic_store(&work->stop, true);
}

static bool start(struct member *member)
{
    int error = pthread_create(&member->thread, NULL, run_member, member);

    if (error != 0)
        eprintf("seckill: cannot start a thread: %s\n", strerror(error));
    return error == 0;
}

static bool run(struct work *work, int64_t duration_ms, struct thread_group_score *score)
{
    struct member members[THREAD_GROUP_MAX];
    int threads = work->group->threads;
    int64_t begin_ns, end_ns, done = 0, missed = 0;

    pthread_barrier_init(&work->ready, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) {
        members[i] = (struct member){.work = work, .index = i};
        if (!start(&members[i]))
            return false; /* the process ends; the others wait for it */
    }
    pthread_barrier_wait(&work->ready);
    begin_ns = monotonic_ns();
    if (work->is_timed)
        let_run(work, duration_ms);
    end_ns = monotonic_ns();
    for (int i = 0; i < threads; i++) {
        pthread_join(members[i].thread, NULL);
        done += members[i].done;
        missed += members[i].missed;
    }
    pthread_barrier_destroy(&work->ready);
    if (score)
        *score = (struct thread_group_score){
            .per_s = (double)done * 1e9 / (double)(end_ns - begin_ns),
            .missed = (double)missed,
        };
    return !atomic_load(&work->failed);
}

bool thread_group_run(const struct thread_group *group, int64_t duration_ms,
                      struct thread_group_score *score)
{
    struct work work = {.group = group, .is_timed = true};

    return run(&work, duration_ms, score);
}

bool thread_group_repeat(const struct thread_group *group, int64_t count)
{
    struct work work = {.group = group};

    atomic_init(&work.left, count);
    return run(&work, 0, NULL);
}
