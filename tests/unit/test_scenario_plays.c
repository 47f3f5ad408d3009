/* SPDX-License-Identifier: MIT */
/* test_scenario_plays.c -- the plays of scenarios whose lock or wires do not do what the story
 * says.  No such performance may end as one in which the lock held. */
#include "tests/registered.h"
#include "tests/unit/scripted_stage.h"

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
