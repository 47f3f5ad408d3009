/* SPDX-License-Identifier: MIT */
/* test_scenario_plays.c -- the plays of scenarios whose lock or wires do not do what the story
 * says.  No such performance may end as one in which the lock held. */
#include <setjmp.h>

#include "loadtest/scenario/scenario.h"
#include "tests/registered.h"

/* ---- a stage whose lock and wires do what no real ones do on demand: a request fails, a fault
 * never strikes, and a stranger gets the lock ---- */

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

extern const struct scenario scenario_check_gap, scenario_client_clock, scenario_double_click,
    scenario_forked, scenario_ghost, scenario_half_open, scenario_leader_killed, scenario_misuse,
    scenario_slots_move, scenario_split_brain, scenario_waiter_outlives_leader,
    scenario_wrong_delete;

enum { ANN, BO, CHU };

/* ---- a fault that never strikes ---- */

TEST(ghost_needs_the_lost_answer)
{
    struct stage s = sound();

    assert_int_equal(perform(&s, &scenario_ghost), PLAYED);
    s = sound();
    s.strikes = false; /* Ann's first request is answered */
    assert_int_equal(perform(&s, &scenario_ghost), FAILED);
}

TEST(half_open_needs_a_silent_network)
{
    static const struct {
        bool is_renewed;
        int outwaited;
    } kinds[] = {{true, DLOCK_OK}, {true, DLOCK_TIMEOUT}, {false, DLOCK_TIMEOUT}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (int strikes = 0; strikes < 2; strikes++) {
            struct stage s = sound();

            s.is_renewed = kinds[i].is_renewed;
            s.outwaited = kinds[i].outwaited;
            s.strikes = strikes;
            assert_int_equal(perform(&s, &scenario_half_open), strikes ? PLAYED : FAILED);
        }
}

TEST(split_brain_needs_bo_on_the_other_side)
{
    struct stage s = sound();

    assert_int_equal(perform(&s, &scenario_split_brain), PLAYED);
    s = sound();
    s.strikes = false;
    assert_int_equal(perform(&s, &scenario_split_brain), FAILED);
}

/* ---- a request that failed ---- */

TEST(a_request_that_failed_is_no_refusal)
{
    static const struct {
        const struct scenario *scenario;
        int stranger;
    } plays[] = {{&scenario_wrong_delete, CHU}, {&scenario_check_gap, CHU},
                 {&scenario_forked, BO},        {&scenario_client_clock, BO},
                 {&scenario_split_brain, BO}};

    for (size_t i = 0; i < sizeof plays / sizeof plays[0]; i++) {
        struct stage s = sound();

        s.tries[plays[i].stranger][0] = DLOCK_IO;
        s.tries[plays[i].stranger][1] = DLOCK_OK;
        assert_int_equal(perform(&s, plays[i].scenario), PLAYED);
        assert_true(s.has_bought[plays[i].stranger]);
    }
}

TEST(who_was_not_answered_has_not_waited_in_vain)
{
    static const struct scenario *const plays[] = {&scenario_wrong_delete, &scenario_half_open};

    for (size_t i = 0; i < sizeof plays / sizeof plays[0]; i++) {
        struct stage s = sound();

        s.outwaited = DLOCK_TIMEOUT;
        assert_int_equal(perform(&s, plays[i]), PLAYED);
        s = sound();
        s.outwaited = DLOCK_IO;
        assert_int_equal(perform(&s, plays[i]), FAILED);
    }
}

TEST(a_click_that_failed_is_no_refusal)
{
    struct stage s = sound();

    assert_int_equal(perform(&s, &scenario_double_click), PLAYED);
    s.outcomes[1] = "accepted";
    assert_int_equal(perform(&s, &scenario_double_click), PLAYED);
    s.outcomes[1] = "unavailable";
    assert_int_equal(perform(&s, &scenario_double_click), FAILED);
    s = sound();
    s.outcomes[0] = "internal";
    assert_int_equal(perform(&s, &scenario_double_click), FAILED);
}

/* ---- a stranger who gets the lock ---- */

/* The plays whose lock keeps a stranger out. */
static const struct {
    const struct scenario *scenario;
    int stranger;
} kept[] = {{&scenario_misuse, CHU},
            {&scenario_leader_killed, BO},
            {&scenario_waiter_outlives_leader, CHU},
            {&scenario_slots_move, BO}};

enum { KEPT_COUNT = sizeof kept / sizeof kept[0] };

/* How the play ends after the stranger was let in or, if `loses`, after Ann has lost her lease. */
static enum ending disturb(struct stage *s, size_t i, bool loses, bool knows_loss, int64_t now_ms)
{
    *s = sound();
    if (!loses)
        s->tries[kept[i].stranger][0] = DLOCK_OK;
    s->knows_loss = knows_loss;
    s->now_ms = now_ms;
    return perform(s, kept[i].scenario);
}

TEST(a_stranger_who_got_in_is_judged)
{
    struct stage s;

    for (size_t i = 0; i < KEPT_COUNT; i++) {
        s = sound();
        assert_int_equal(perform(&s, kept[i].scenario), PLAYED);
        assert_int_equal(s.signs & ~(unsigned)SIGN_CALL_REFUSED, 0);
        for (int knows_loss = 0; knows_loss < 2; knows_loss++) {
            assert_int_equal(disturb(&s, i, false, knows_loss, 1), PLAYED);
            assert_int_equal(s.signs, SIGN_TWO_HOLDERS);
            assert_true(kept[i].scenario->breaks & SIGN_TWO_HOLDERS);
        }
        /* A lease that the holder's library calls valid is valid, however long it took. */
        assert_int_equal(disturb(&s, i, false, false, 10 * LEASE_MS), PLAYED);
        assert_int_equal(s.signs, SIGN_TWO_HOLDERS);
    }
}

TEST(a_lease_that_was_lost_early_is_judged)
{
    struct stage s;

    for (size_t i = 0; i < KEPT_COUNT; i++) {
        assert_int_equal(disturb(&s, i, true, true, 1), PLAYED);
        assert_int_equal(s.signs, SIGN_LOST_EARLY);
        assert_true(kept[i].scenario->breaks & SIGN_LOST_EARLY);
    }
}

TEST(a_lease_that_may_have_ended_is_performed_again)
{
    struct stage s;

    for (size_t i = 0; i < KEPT_COUNT; i++)
        for (int loses = 0; loses < 2; loses++)
            assert_int_equal(disturb(&s, i, loses, true, LEASE_MS), SPOILT);
}
