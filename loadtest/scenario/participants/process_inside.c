/* SPDX-License-Identifier: MIT */
/* process_inside.c -- one process of actors: its main thread, and its hands. */
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

enum { NODE_TIMEOUT_MS = 500, THREADS_MAX = 100, OPEN_TRIES = 3 };

/* A thread, made when it is first given something to do. */
struct hand {
    struct player *player;
    pthread_t thread;
    bool is_there, has_order;
    pthread_cond_t told;
    struct player_order order;
    dlock_lease leases[ACTOR_LEVELS_MAX]; /* what it holds, level by level            */
    int level;
    dlock_lease spent;                    /* the last one that it released            */
    dlock_lease shown;                    /* what it holds, for the main thread       */
    bool is_holding;                      /* the same; the player's lock guards both  */
    struct shop shop;
};

struct player {
    const struct player_part *part;
    int fd;
    dlock_system *sys;
    pthread_mutex_t lock;
    struct hand hands[PLAYER_HANDS_MAX];
};

const char *player_words(enum player_what what, bool is_chinese)
{
    static const char *const words[][2] = {
#define X(id, english, chinese) {english, chinese},
        PLAYER_ORDERS(X)
#undef X
    };

    return words[what][is_chinese];
}

/* The conductor has gone if it cannot be told; then so has the story. */
static void reply(const struct player *p, const struct player_answer *answer)
{
    ssize_t n;

    do
        n = send(p->fd, answer, sizeof *answer, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        _exit(EXIT_FAILURE);
}

static void keep_error(struct player_answer *answer)
{
    if (dlock_is_failure(answer->status))
        snprintf(answer->error, sizeof answer->error, "%s", dlock_error());
}

/* ---- what a hand does ---- */

static uint64_t fence_of(const struct hand *h)
{
    return h->level > 0 ? h->leases[h->level - 1].fence : h->spent.fence;
}

static void do_acquire(struct hand *h, struct player_answer *answer)
{
    dlock_request request = {.wait_ms = h->order.wait_ms,
                             .lease_ms = h->order.lease_ms,
                             .shared = h->order.is_shared};

    if (h->level == ACTOR_LEVELS_MAX) {
        answer->status = DLOCK_INVALID;
        snprintf(answer->error, sizeof answer->error, "an actor has only %d levels",
                 ACTOR_LEVELS_MAX);
        return;
    }
    answer->status = dlock_acquire_with(h->player->sys, h->player->part->lock, &request,
                                        &h->leases[h->level]);
    h->level += answer->status == DLOCK_OK;
}

/* The last level; a lease that was never granted if there is none. */
static void do_release(struct hand *h, struct player_answer *answer, bool abandons)
{
    dlock_lease none = {0};
    dlock_lease *lease = h->level > 0 ? &h->leases[h->level - 1] : &none;

    h->spent = *lease;
    answer->status = abandons ? dlock_abandon(h->player->sys, lease)
                              : dlock_release(h->player->sys, lease);
    h->level -= h->level > 0;
}

/* What the holder has shown; the holder itself knows nothing of it. */
static dlock_status release_for(struct hand *h)
{
    const struct hand *holder = &h->player->hands[h->order.holder];
    dlock_lease lease;

    pthread_mutex_lock(&h->player->lock);
    lease = holder->shown;
    pthread_mutex_unlock(&h->player->lock);
    return dlock_release(h->player->sys, &lease);
}

static void do_renew(struct hand *h, struct player_answer *answer)
{
    dlock_lease none = {0};

    answer->status = dlock_renew(
        h->player->sys, h->level > 0 ? &h->leases[h->level - 1] : &none);
}

/* fork(), and in the child one call with what it has inherited. */
static void do_fork(struct hand *h, struct player_answer *answer)
{
    dlock_system *sys = h->player->sys;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        dlock_lease lease = h->level > 0 ? h->leases[h->level - 1] : h->spent;

        _exit(h->order.what == PLAYER_CHILD_TRY
                  ? (int)dlock_try_lock(sys, h->player->part->lock, &lease)
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

static void obey_in_hand(struct hand *h, struct player_answer *answer)
{
    uint64_t fence = h->order.fence != 0 ? h->order.fence : fence_of(h);
    size_t size = sizeof answer->error;

    switch (h->order.what) {
    case PLAYER_ACQUIRE:
        do_acquire(h, answer);
        break;
    case PLAYER_RELEASE:
    case PLAYER_ABANDON:
        do_release(h, answer, h->order.what == PLAYER_ABANDON);
        break;
    case PLAYER_RELEASE_AGAIN:
        answer->status = dlock_release(h->player->sys, &h->spent);
        break;
    case PLAYER_RELEASE_FOR:
        answer->status = release_for(h);
        break;
    case PLAYER_RENEW:
        do_renew(h, answer);
        break;
    case PLAYER_READ:
        if (!shop_read(&h->shop, &answer->stock, answer->error, size))
            answer->sale = SALE_FAILED;
        break;
    case PLAYER_GLANCE:
        if (!shop_glance(&h->shop, &answer->stock, answer->error, size))
            answer->sale = SALE_FAILED;
        break;
    case PLAYER_RESERVE:
        answer->sale = shop_reserve(&h->shop, answer->error, size);
        break;
    case PLAYER_BUY:
    case PLAYER_BUY_AGAIN:
        answer->sale = shop_buy(&h->shop, fence, h->order.what == PLAYER_BUY_AGAIN,
                                answer->error, size);
        break;
    default:
        do_fork(h, answer);
        break;
    }
    if (answer->error[0] == '\0')
        keep_error(answer);
    answer->fence = h->order.fence != 0 ? h->order.fence : fence_of(h);
    answer->level = h->level;
}

static void *hand_run(void *arg)
{
    struct hand *h = arg;

    for (;;) {
        struct player_answer answer = {0};

        pthread_mutex_lock(&h->player->lock);
        while (!h->has_order)
            pthread_cond_wait(&h->told, &h->player->lock);
        h->has_order = false;
        pthread_mutex_unlock(&h->player->lock);
        answer.what = h->order.what;
        answer.hand = h->order.hand;
        if (h->order.what == PLAYER_END)
            return NULL;
        obey_in_hand(h, &answer);
        pthread_mutex_lock(&h->player->lock);
        h->is_holding = h->level > 0;
        h->shown = h->is_holding ? h->leases[h->level - 1] : h->spent;
        pthread_mutex_unlock(&h->player->lock);
        reply(h->player, &answer);
    }
}

static void make_hand(struct player *p, int hand)
{
    struct hand *h = &p->hands[hand];

    h->player = p;
    h->shop = (struct shop){.part = p->part, .user = p->part->first_user + hand};
    pthread_cond_init(&h->told, NULL);
    h->is_there = pthread_create(&h->thread, NULL, hand_run, h) == 0;
    if (!h->is_there)
        _exit(EXIT_FAILURE);
}

/* The conductor gives a hand nothing new before it has answered. */
static void hand_over(struct player *p, const struct player_order *order)
{
    struct hand *h = &p->hands[order->hand];

    if (!h->is_there)
        make_hand(p, order->hand);
    pthread_mutex_lock(&p->lock);
    h->order = *order;
    h->has_order = true;
    pthread_cond_signal(&h->told);
    pthread_mutex_unlock(&p->lock);
}

/* ---- what the main thread does ---- */

dlock_status player_open(dlock_system **out, const struct player_part *part)
{
    dlock_options options = dlock_options_default();
    dlock_status st = DLOCK_IO;

    options.variant = part->variant;
    lab_urls_use(&part->urls, &options);
    options.record_dir = part->record_dir;
    options.lease_ms = part->lease_ms;
    options.watchdog = part->watchdog;
    /* A busy machine is no dead node. */
    options.redlock_node_timeout_ms = NODE_TIMEOUT_MS;
    if (part->store_timeout_ms > 0) {
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, flag, environment, timeout, ...)               \
    options.timeout = part->store_timeout_ms;
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    }
    if (part->node_timeout_ms > 0)
        options.redlock_node_timeout_ms = part->node_timeout_ms;
    for (int i = 0; i < OPEN_TRIES && st == DLOCK_IO; i++)
        st = dlock_open(out, &options);
    return st;
}

/* A thread is held there, or was caught and went on: it failed, or its connection was
 * cut. */
static bool is_at(dlock_fault_point point)
{
    dlock_fault_state state;

    dlock_fault_look(point, &state);
    return state.holding || (!state.armed && state.caught > 0);
}

static bool is_protected(struct player *p, int hand)
{
    dlock_lease lease;
    bool is_holding;

    pthread_mutex_lock(&p->lock);
    is_holding = p->hands[hand].is_holding;
    lease = p->hands[hand].shown;
    pthread_mutex_unlock(&p->lock);
    return is_holding && dlock_lease_valid(p->sys, &lease);
}

/* It holds nothing any more when it is made again: a lease is its thread's. */
static void end_hand(struct player *p, int hand)
{
    struct hand *h = &p->hands[hand];

    if (!h->is_there)
        return;
    hand_over(p, &(struct player_order){.what = PLAYER_END, .hand = hand});
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->told);
    shop_leave(&h->shop);
    *h = (struct hand){.level = 0};
}

/* Another thread in its place, which the system calls by the same pthread_t: as a rule
 * the next one that is made.  False: none of so many was. */
static bool change_thread(struct player *p, int hand)
{
    pthread_t before = p->hands[hand].thread;
    bool is_same = false;

    for (int i = 0; i < THREADS_MAX && !is_same && p->hands[hand].is_there; i++) {
        end_hand(p, hand);
        make_hand(p, hand);
        is_same = pthread_equal(before, p->hands[hand].thread);
    }
    return is_same;
}

static void obey_at_once(struct player *p, const struct player_order *order,
                         struct player_answer *answer)
{
    bool ok = true;

    switch (order->what) {
    case PLAYER_OPEN:
        answer->status = player_open(&p->sys, p->part);
        break;
    case PLAYER_IS_PROTECTED:
        answer->is_so = is_protected(p, order->hand);
        break;
    case PLAYER_INSPECT:
        answer->status = dlock_inspect(p->sys, p->part->lock, &answer->info);
        break;
    case PLAYER_CHANGE_THREAD:
        answer->is_so = change_thread(p, order->hand);
        break;
    case PLAYER_SHIFT_CLOCK:
        dlock_clock_shift_wall(order->ahead_ms);
        break;
    case PLAYER_FREE:
        answer->status = dlock_force_release(p->sys, p->part->lock);
        break;
    case PLAYER_ARM:
        ok = dlock_fault_arm(order->point, order->action, p->part->lock);
        break;
    case PLAYER_LET_GO:
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

/* Only hands that have nothing to do can be waited for. */
static void end(struct player *p)
{
    for (int i = 0; i < PLAYER_HANDS_MAX; i++)
        end_hand(p, i);
    dlock_close(p->sys);
    _exit(EXIT_SUCCESS);
}

void player_run(int fd, const struct player_part *part)
{
    struct player p = {.part = part, .fd = fd};
    struct player_order order;

    pthread_mutex_init(&p.lock, NULL);
    (void)dlock_fault_allow(); /* whoever arms one hears of a refusal */
    while (recv(fd, &order, sizeof order, 0) == (ssize_t)sizeof order) {
        struct player_answer answer = {.what = order.what, .hand = order.hand};

        if (order.what == PLAYER_END)
            end(&p);
        if (order.what < PLAYER_AT_ONCE) {
            hand_over(&p, &order);
            continue;
        }
        obey_at_once(&p, &order, &answer);
        reply(&p, &answer);
    }
    _exit(EXIT_FAILURE);
}
