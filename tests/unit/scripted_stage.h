/* SPDX-License-Identifier: MIT */
/* scripted_stage.h -- a stage for the plays of scenarios, whose lock and wires do what no real ones
 * do on demand: a request fails, a fault never strikes, and a stranger gets the lock. */
#ifndef TESTS_UNIT_SCRIPTED_STAGE_H
#define TESTS_UNIT_SCRIPTED_STAGE_H

#include <setjmp.h>

#include "loadtest/scenario/scenario.h"

enum { ACTORS = 4, TRIES = 3, BY_THE_LOCK = -1, LEASE_MS = 1000 };

/* PLAYED: play() returned, and what happened is judged.  SPOILT: it is performed again. */
enum ending { PLAYED, FAILED, SPOILT };

struct actor {
    struct stage *stage;
    int index, try_count;
    bool is_waiting;
};

struct stage {
    struct actor actors[ACTORS];
    int holder;                /* -1: the lock is free                                 */
    int tries[ACTORS][TRIES];  /* the answers to the first requests of each            */
    int outwaited;             /* the answer to who waits for the end of the lease     */
    bool is_renewed, strikes, knows_loss;
    bool has_bought[ACTORS];
    int64_t now_ms;
    const char *outcomes[2];   /* of the requests to the service                       */
    unsigned signs;
    jmp_buf end;
};

/* A stage on which everything works, and each of `tries` is answered by the lock. */
static struct stage sound(void)
{
    struct stage s = {.holder = -1, .strikes = true, .outwaited = DLOCK_OK,
                      .outcomes = {"accepted", "lock-busy"}};

    for (int i = 0; i < ACTORS; i++)
        for (int j = 0; j < TRIES; j++)
            s.tries[i][j] = BY_THE_LOCK;
    return s;
}

static enum ending perform(struct stage *s, const struct scenario *scenario)
{
    enum ending ending;

    for (int i = 0; i < ACTORS; i++)
        s->actors[i] = (struct actor){.stage = s, .index = i};
    ending = (enum ending)setjmp(s->end);
    if (ending == PLAYED)
        scenario->play(s);
    return ending;
}

/* ---- the stage ---- */

struct actor *stage_actor(struct stage *s, int i)
{
    return &s->actors[i];
}

const dlock_variant_info *stage_lock(const struct stage *s)
{
    (void)s;
    return dlock_variant_find("lua");
}

bool stage_has(const struct stage *s, unsigned caps)
{
    (void)s;
    return (caps & ~(unsigned)(DLOCK_CAP_EXPIRES | DLOCK_CAP_OWNED | DLOCK_CAP_EXCLUSIVE)) == 0;
}

bool stage_is_renewed(const struct stage *s)
{
    return s->is_renewed;
}

bool stage_store_hears_of_death(const struct stage *s)
{
    (void)s;
    return false;
}

int stage_lease_ms(const struct stage *s)
{
    (void)s;
    return LEASE_MS;
}

int64_t stage_now_ms(const struct stage *s)
{
    return s->now_ms;
}

void stage_need(struct stage *s, bool is_so, const char *what)
{
    (void)what;
    if (!is_so)
        longjmp(s->end, FAILED);
}

void stage_need_in_time(struct stage *s, bool is_so, const char *what)
{
    (void)what;
    if (!is_so)
        longjmp(s->end, SPOILT);
}

void stage_sign(struct stage *s, enum scenario_sign sign, const char *why)
{
    (void)why;
    s->signs |= (unsigned)sign;
}

void stage_tell(struct stage *s, const char *english, const char *chinese)
{
    (void)s, (void)english, (void)chinese;
}

void stage_pass_ms(struct stage *s, int64_t ms)
{
    s->now_ms += ms;
}

/* ---- actors ---- */

dlock_status actor_acquire(struct actor *a, int64_t wait_ms)
{
    struct stage *s = a->stage;
    int answer = a->try_count < TRIES ? s->tries[a->index][a->try_count] : BY_THE_LOCK;

    (void)wait_ms;
    a->try_count++;
    if (answer == BY_THE_LOCK)
        answer = s->holder < 0 ? DLOCK_OK : DLOCK_BUSY;
    if (answer == DLOCK_OK)
        s->holder = a->index;
    return (dlock_status)answer;
}

dlock_status actor_try(struct actor *a)
{
    return actor_acquire(a, 0);
}

dlock_status actor_try_until_answered(struct actor *a)
{
    dlock_status st = actor_try(a);

    while (dlock_is_failure(st))
        st = actor_try(a);
    return st;
}

void actor_enter(struct actor *a)
{
    stage_need(a->stage, actor_try(a) == DLOCK_OK, "enter");
}

dlock_status actor_outwait(struct actor *a)
{
    if (a->stage->outwaited == DLOCK_OK)
        a->stage->holder = a->index;
    return (dlock_status)a->stage->outwaited;
}

dlock_status actor_release(struct actor *a)
{
    if (a->stage->holder != a->index)
        return DLOCK_INVALID;
    a->stage->holder = -1;
    return DLOCK_OK;
}

void actor_leave(struct actor *a)
{
    stage_need(a->stage, actor_release(a) == DLOCK_OK, "leave");
}

dlock_status actor_renew(struct actor *a)
{
    return actor_release(a) == DLOCK_OK ? actor_acquire(a, 0) : DLOCK_LOST;
}

dlock_status actor_release_again(struct actor *a)
{
    (void)a;
    return DLOCK_INVALID;
}

dlock_status actor_release_for(struct actor *a, struct actor *holder)
{
    (void)a, (void)holder;
    return DLOCK_INVALID;
}

bool actor_is_protected(struct actor *a)
{
    return !a->stage->knows_loss;
}

void actor_await_unprotected(struct actor *a)
{
    (void)a;
}

dlock_info actor_inspect(struct actor *a)
{
    (void)a;
    return (dlock_info){.locked = true};
}

bool actor_finds_no_end(struct actor *a)
{
    (void)a;
    return false;
}

int64_t actor_read(struct actor *a)
{
    (void)a;
    return 1;
}

enum sale_answer actor_buy(struct actor *a)
{
    a->stage->has_bought[a->index] = true;
    return SALE_SOLD;
}

dlock_status actor_child_try(struct actor *a)
{
    (void)a;
    return DLOCK_INVALID;
}

dlock_status actor_child_release(struct actor *a)
{
    (void)a;
    return DLOCK_INVALID;
}

void actor_begin_acquire(struct actor *a, int64_t wait_ms)
{
    (void)wait_ms;
    a->is_waiting = true;
}

void actor_begin_release(struct actor *a)
{
    (void)actor_release(a);
}

dlock_status actor_end(struct actor *a)
{
    return a->is_waiting ? actor_try(a) : DLOCK_OK;
}

void actor_await_waiting(struct actor *a)
{
    (void)a;
}

/* ---- faults ---- */

void actor_arm(struct actor *a, dlock_fault_point point, dlock_fault_action action)
{
    (void)a, (void)point, (void)action;
}

void actor_await_point(struct actor *a, dlock_fault_point point)
{
    (void)a, (void)point;
}

void actor_let_go(struct actor *a, dlock_fault_point point)
{
    (void)a, (void)point;
}

void actor_shift_clock(struct actor *a, int64_t ahead_ms)
{
    (void)a, (void)ahead_ms;
}

void actor_wire(struct actor *a, enum actor_wire wire, const char *fault)
{
    (void)a, (void)wire, (void)fault;
}

void actor_wire_node(struct actor *a, int node, const char *fault)
{
    (void)a, (void)node, (void)fault;
}

void actor_wire_asking(struct actor *a, const char *fault)
{
    (void)a, (void)fault;
}

void actor_wire_mend(struct actor *a, enum actor_wire wire)
{
    (void)a, (void)wire;
}

void actor_await_wire(struct actor *a, enum actor_wire wire)
{
    (void)wire;
    stage_need(a->stage, a->stage->strikes, "strike");
}

const char *stage_lock_server(const struct stage *s, int node)
{
    (void)s, (void)node;
    return "redis";
}

int stage_server_arm(struct stage *s, const char *fault, const char *server, int64_t by_ms)
{
    (void)s, (void)fault, (void)server, (void)by_ms;
    return 0;
}

void stage_server_begin(struct stage *s, int number)
{
    (void)s, (void)number;
}

void stage_server_end(struct stage *s, int number)
{
    (void)s, (void)number;
}

int stage_server_hurt(struct stage *s, const char *fault, const char *server, int64_t by_ms)
{
    (void)s, (void)fault, (void)server, (void)by_ms;
    return 0;
}

/* ---- the service ---- */

void stage_start_service(struct stage *s, int count, const char *const *flags)
{
    (void)s, (void)count, (void)flags;
}

void stage_hold_service(struct stage *s, int process, dlock_fault_point point)
{
    (void)s, (void)process, (void)point;
}

void stage_await_service(struct stage *s, int process, dlock_fault_point point)
{
    (void)s, (void)process, (void)point;
}

void stage_let_service_go(struct stage *s, int process, dlock_fault_point point)
{
    (void)s, (void)process, (void)point;
}

int actor_post(struct actor *a, int process, const char *key)
{
    (void)a, (void)key;
    return process;
}

const char *stage_answer(struct stage *s, int number)
{
    return s->outcomes[number];
}

#endif /* TESTS_UNIT_SCRIPTED_STAGE_H */
