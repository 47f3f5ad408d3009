/* SPDX-License-Identifier: MIT */
/* process_inside.c -- the process of a participant: its main thread and its worker threads. */
#include "loadtest/scenario/participants/process_inside.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/scenario/servers/voucher.h"
#include "lock/process.h"

enum { NODE_TIMEOUT_MS = 500, THREADS_MAX = 100, OPEN_TRIES = 3 };

/* A worker thread.  The main thread creates it with the first order for it. */
struct actor_thread {
    struct actor_process *process;
    pthread_t thread;
    bool is_there, has_order;
    pthread_cond_t told;
    struct actor_order order;
    dlock_lease leases[1 + ACTOR_LEVELS_MAX]; /* what it holds, level by level from 1 on;
                                               * at 0 is one that was never granted  */
    int level;
    dlock_lease spent;                    /* the last one that it released            */
    dlock_lease shown;                    /* what it holds, for the main thread       */
    bool is_holding;                      /* the same; the process's lock guards both  */
    struct voucher_client shop;
};

struct actor_process {
    const struct actor_part *part;
    int fd;
    dlock_system *sys;
    pthread_mutex_t lock;
    struct actor_thread threads[ACTOR_THREADS_MAX];
};

const char *actor_words(enum actor_action what, bool is_chinese)
{
    static const char *const words[][2] = {
#define X(id, english, chinese) {english, chinese},
        ACTOR_ORDERS(X)
#undef X
    };

    return words[what][is_chinese];
}

/* If the send fails, the process that directs the scenario has ended, and so has the
 * scenario. */
static void reply(const struct actor_process *p, const struct actor_answer *answer)
{
    ssize_t n;

    do
        n = send(p->fd, answer, sizeof *answer, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        _exit(EXIT_FAILURE);
}

static void keep_error(struct actor_answer *answer)
{
    if (dlock_is_failure(answer->status))
        snprintf(answer->error, sizeof answer->error, "%s", dlock_error());
}

/* ---- worker threads ---- */

/* The lease that the thread holds, or held last. */
static const dlock_lease *lease_of(const struct actor_thread *h)
{
    return h->level > 0 ? &h->leases[h->level] : &h->spent;
}

static void do_acquire(struct actor_thread *h, struct actor_answer *answer)
{
    dlock_request request = {.wait_ms = h->order.wait_ms,
                             .lease_ms = h->order.lease_ms};

    if (h->level == ACTOR_LEVELS_MAX) {
        answer->status = DLOCK_INVALID;
        snprintf(answer->error, sizeof answer->error, "an actor has only %d levels",
                 ACTOR_LEVELS_MAX);
        return;
    }
    answer->status = dlock_acquire_with(h->process->sys, h->process->part->lock, &request,
                                        &h->leases[h->level + 1]);
    h->level += answer->status == DLOCK_OK;
}

/* The last level. */
static dlock_status do_release(struct actor_thread *h)
{
    dlock_lease *lease = &h->leases[h->level];

    h->spent = *lease;
    h->level -= h->level > 0;
    return dlock_release(h->process->sys, lease);
}

/* Release the lease that the holder has shown; the holder itself is not told. */
static dlock_status release_for(struct actor_thread *h)
{
    const struct actor_thread *holder = &h->process->threads[h->order.holder];
    dlock_lease lease;

    pthread_mutex_lock(&h->process->lock);
    lease = holder->shown;
    pthread_mutex_unlock(&h->process->lock);
    return dlock_release(h->process->sys, &lease);
}

/* fork(), and make one call in the child with the inherited lease. */
static void do_fork(struct actor_thread *h, struct actor_answer *answer)
{
    dlock_system *sys = h->process->sys;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        dlock_lease lease = *lease_of(h);

        _exit(h->order.what == ACTOR_CHILD_TRY
                  ? (int)dlock_try_lock(sys, h->process->part->lock, &lease)
                  : (int)dlock_release(sys, &lease));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
        answer->status = DLOCK_NOMEM;
        snprintf(answer->error, sizeof answer->error, "the child was not there, or "
                                                      "died: %s", strerror(errno));
        return;
    }
    answer->status = (dlock_status)WEXITSTATUS(status);
}

static void obey_in_thread(struct actor_thread *h, struct actor_answer *answer)
{
    uint64_t fence = h->order.fence != 0 ? h->order.fence : lease_of(h)->fence;
    size_t size = sizeof answer->error;

    switch (h->order.what) {
    case ACTOR_ACQUIRE:
        do_acquire(h, answer);
        break;
    case ACTOR_RELEASE:
        answer->status = do_release(h);
        break;
    case ACTOR_RELEASE_AGAIN:
        answer->status = dlock_release(h->process->sys, &h->spent);
        break;
    case ACTOR_RELEASE_FOR:
        answer->status = release_for(h);
        break;
    case ACTOR_RENEW:
        answer->status = dlock_renew(h->process->sys, &h->leases[h->level]);
        break;
    case ACTOR_READ:
        if (!voucher_client_read(&h->shop, &answer->stock, answer->error, size))
            answer->sale = SALE_FAILED;
        break;
    case ACTOR_GLANCE:
        if (!voucher_client_glance(&h->shop, &answer->stock, answer->error, size))
            answer->sale = SALE_FAILED;
        break;
    case ACTOR_RESERVE:
        answer->sale = voucher_client_reserve(&h->shop, answer->error, size);
        break;
    case ACTOR_BUY:
    case ACTOR_BUY_AGAIN:
        answer->sale = voucher_client_buy(&h->shop, fence, h->order.what == ACTOR_BUY_AGAIN,
                                answer->error, size);
        answer->user = h->shop.user;
        memcpy(answer->request, h->shop.request, sizeof answer->request);
        break;
    default:
        do_fork(h, answer);
        break;
    }
    if (answer->error[0] == '\0')
        keep_error(answer);
    answer->fence = h->order.fence != 0 ? h->order.fence : lease_of(h)->fence;
    answer->level = h->level;
}

static void *hand_run(void *arg)
{
    struct actor_thread *h = arg;

    for (;;) {
        struct actor_answer answer = {0};

        pthread_mutex_lock(&h->process->lock);
        while (!h->has_order)
            pthread_cond_wait(&h->told, &h->process->lock);
        h->has_order = false;
        pthread_mutex_unlock(&h->process->lock);
        answer.what = h->order.what;
        answer.thread = h->order.thread;
        if (h->order.what == ACTOR_END)
            return NULL;
        obey_in_thread(h, &answer);
        pthread_mutex_lock(&h->process->lock);
        h->is_holding = h->level > 0;
        h->shown = *lease_of(h);
        pthread_mutex_unlock(&h->process->lock);
        reply(h->process, &answer);
    }
}

static void make_thread(struct actor_process *p, int thread)
{
    struct actor_thread *h = &p->threads[thread];

    h->process = p;
    h->shop = (struct voucher_client){.part = p->part, .user = p->part->first_user + thread};
    pthread_cond_init(&h->told, NULL);
    h->is_there = pthread_create(&h->thread, NULL, hand_run, h) == 0;
    if (!h->is_there)
        _exit(EXIT_FAILURE);
}

/* A thread gets its next order only after it has answered the last. */
static void pass_order(struct actor_process *p, const struct actor_order *order)
{
    struct actor_thread *h = &p->threads[order->thread];

    if (!h->is_there)
        make_thread(p, order->thread);
    pthread_mutex_lock(&p->lock);
    h->order = *order;
    h->has_order = true;
    pthread_cond_signal(&h->told);
    pthread_mutex_unlock(&p->lock);
}

/* ---- the main thread ---- */

dlock_status actor_open(dlock_system **out, const struct actor_part *part)
{
    dlock_options options = dlock_options_default();
    dlock_status st = DLOCK_IO;

    options.variant = part->variant;
    lab_urls_use(&part->urls, &options);
    options.record_dir = part->record_dir;
    options.lease_ms = part->lease_ms;
    options.redlock_node_timeout_ms = NODE_TIMEOUT_MS; /* a busy machine is no dead node */
    if (part->store_timeout_ms > 0) {
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, flag, environment, timeout, ...)               \
    options.timeout = part->store_timeout_ms;
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    }
    options.replicas_acknowledge = part->replicas_acknowledge;
    if (part->node_timeout_ms > 0)
        options.redlock_node_timeout_ms = part->node_timeout_ms;
    for (int i = 0; i < OPEN_TRIES && st == DLOCK_IO; i++)
        st = dlock_open(out, &options);
    return st;
}

/* True: a thread is held at the point, or was caught there and continued with a failure
 * or a cut connection. */
static bool is_at(dlock_fault_point point)
{
    dlock_fault_state state;

    dlock_fault_look(point, &state);
    return state.holding || (!state.armed && state.caught > 0);
}

static bool is_protected(struct actor_process *p, int thread)
{
    dlock_lease lease;
    bool is_holding;

    pthread_mutex_lock(&p->lock);
    is_holding = p->threads[thread].is_holding;
    lease = p->threads[thread].shown;
    pthread_mutex_unlock(&p->lock);
    return is_holding && dlock_lease_valid(p->sys, &lease);
}

/* End the thread.  Its successor holds no lock, because a lease belongs to its thread. */
static void end_thread(struct actor_process *p, int thread)
{
    struct actor_thread *h = &p->threads[thread];

    if (!h->is_there)
        return;
    pass_order(p, &(struct actor_order){.what = ACTOR_END, .thread = thread});
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->told);
    voucher_client_leave(&h->shop);
    *h = (struct actor_thread){.level = 0};
}

/* Replace the thread by another with the same pthread_t.  As a rule the next thread that
 * is created gets the pthread_t of the one that ended.  False: none of THREADS_MAX threads
 * got it. */
static bool change_thread(struct actor_process *p, int thread)
{
    pthread_t before = p->threads[thread].thread;
    bool is_same = false;

    for (int i = 0; i < THREADS_MAX && !is_same && p->threads[thread].is_there; i++) {
        end_thread(p, thread);
        make_thread(p, thread);
        is_same = pthread_equal(before, p->threads[thread].thread);
    }
    return is_same;
}

static void obey_at_once(struct actor_process *p, const struct actor_order *order,
                         struct actor_answer *answer)
{
    bool ok = true;

    switch (order->what) {
    case ACTOR_OPEN:
        answer->status = actor_open(&p->sys, p->part);
        break;
    case ACTOR_IS_PROTECTED:
        answer->is_so = is_protected(p, order->thread);
        break;
    case ACTOR_INSPECT:
        answer->status = dlock_inspect(p->sys, p->part->lock, &answer->info);
        break;
    case ACTOR_CHANGE_THREAD:
        answer->is_so = change_thread(p, order->thread);
        break;
    case ACTOR_SHIFT_CLOCK:
        dlock_process_shift_wall(order->ahead_ms);
        break;
    case ACTOR_FREE:
        answer->status = dlock_force_release(p->sys, p->part->lock);
        break;
    case ACTOR_ARM:
        ok = dlock_fault_arm(order->point, order->action, p->part->lock);
        break;
    case ACTOR_LET_GO:
        ok = dlock_fault_release(order->point);
        break;
    default:
        answer->is_so = is_at(order->point);
        break;
    }
    if (!ok)
        answer->status = DLOCK_INVALID;
    keep_error(answer);
}

/* Only threads that have nothing to do can be waited for. */
static void end(struct actor_process *p)
{
    for (int i = 0; i < ACTOR_THREADS_MAX; i++)
        end_thread(p, i);
    dlock_close(p->sys);
    _exit(EXIT_SUCCESS);
}

void actor_process_run(int fd, const struct actor_part *part)
{
    struct actor_process p = {.part = part, .fd = fd};
    struct actor_order order;

    pthread_mutex_init(&p.lock, NULL);
    dlock_fault_allow();
    while (recv(fd, &order, sizeof order, 0) == (ssize_t)sizeof order) {
        struct actor_answer answer = {.what = order.what, .thread = order.thread};

        if (order.what == ACTOR_END)
            end(&p);
        if (order.what < ACTOR_AT_ONCE) {
            pass_order(&p, &order);
            continue;
        }
        obey_at_once(&p, &order, &answer);
        reply(&p, &answer);
    }
    _exit(EXIT_FAILURE);
}
