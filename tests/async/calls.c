/* SPDX-License-Identifier: MIT */
/* calls.c -- the answers of asynchronous calls, and the owners of their leases. */
#include <stdio.h>
#include <string.h>

#include "tests/async/rig.h"

/* ---- one call ---- */

static void a_grant_excludes_and_a_release_frees(void)
{
    const char *name = rig_name();
    static struct async_answer first, second;

    async_open();
    assert_status(OK, async_acquire(name, 0, &first));
    assert_string_equal(name, first.lease.name);
    assert_true(dlock_lease_valid(async_sys, &first.lease));
    assert_status(BUSY, async_acquire(name, 0, &second));
    assert_int_equal(0, second.lease.hold);
    assert_status(BUSY, rig_try(async_sys, name));
    assert_status(OK, async_release(&first.lease));
    assert_false(dlock_lease_valid(async_sys, &first.lease));
    assert_status(OK, async_acquire(name, 0, &second));
    assert_status(OK, async_release(&second.lease));
    assert_int_equal(0, dlock_async_count(async_it));
}

static void a_release_gives_the_lock_to_a_waiter(void)
{
    const char *name = rig_name();
    static struct async_answer first, second;

    async_opts.variant = "reentrant";
    async_open();
    assert_status(OK, async_acquire(name, 0, &first));
    async_ask(name, -1, &second);
    for (int i = 0; i < 20; i++)
        async_drive();
    assert_int_equal(0, atomic_load(&second.count));
    assert_status(OK, async_release(&first.lease));
    assert_status(OK, async_wait(&second));
    assert_status(OK, async_release(&second.lease));
}

/* A debt would be sent on the connection of the threads, which an asynchronous acquire does not
 * use. */
static void a_release_without_waiting_waits_beside_an_interface(void)
{
    const char *name = rig_name();
    static struct async_answer answer;
    dlock_metrics metrics;
    dlock_lease lease;

    async_open();
    assert_status(OK, dlock_acquire(async_sys, name, 0, &lease));
    assert_status(OK, dlock_release_later(async_sys, &lease));
    assert_status(OK, async_acquire(name, 0, &answer));
    dlock_metrics_read(async_sys, &metrics);
    assert_int_equal(0, metrics.debts);
    assert_status(OK, async_release(&answer.lease));
}

static void a_wait_ends_with_its_time(void)
{
    const char *name = rig_name();
    static struct async_answer first, second;
    int64_t asked_ms;

    async_open();
    assert_status(OK, async_acquire(name, 0, &first));
    asked_ms = rig_now_ms();
    assert_status(TIMEOUT, async_acquire(name, 60, &second));
    assert_true(rig_now_ms() - asked_ms >= 60);
    assert_status(OK, async_release(&first.lease));
}

static void a_renewal_moves_the_deadline(void)
{
    static struct async_answer held, renewed;

    async_opts.variant = "reentrant";
    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &held));
    rig_pause_ms(5);
    assert_status(OK, async_submit(dlock_async_renew, &held.lease, &renewed));
    assert_status(OK, async_wait(&renewed));
    assert_true(renewed.lease.deadline_ns > held.lease.deadline_ns);
    assert_status(OK, async_release(&held.lease));
}

static void an_abandoned_lease_stays_until_its_end(void)
{
    const char *name = rig_name();
    static struct async_answer held, abandoned, other;

    async_open();
    assert_status(OK, async_acquire(name, 0, &held));
    assert_status(OK, async_submit(dlock_async_abandon, &held.lease, &abandoned));
    assert_status(OK, async_wait(&abandoned));
    assert_false(dlock_lease_valid(async_sys, &held.lease));
    assert_status(BUSY, async_acquire(name, 0, &other));
    assert_status(INVALID, async_release(&held.lease));
}

/* ---- owners ---- */

static void ask_as(dlock_async_owner *owner, const char *name, struct async_answer *answer)
{
    memset(answer, 0, sizeof(*answer));
    assert_status(OK, dlock_async_acquire(async_it, name, NULL, owner, async_note, answer, NULL));
    (void)async_wait(answer);
}

static void only_a_named_owner_enters_again(void)
{
    const char *name = rig_name();
    static struct async_answer outer, inner, other;
    dlock_async_owner *owner;

    async_opts.variant = "reentrant";
    async_open();
    assert_status(OK, async_acquire(name, 0, &outer));
    assert_status(BUSY, async_acquire(name, 0, &inner));
    assert_status(OK, async_release(&outer.lease));

    owner = dlock_async_owner_new(async_it);
    assert_non_null(owner);
    ask_as(owner, name, &outer);
    ask_as(owner, name, &inner);
    assert_status(OK, outer.status);
    assert_status(OK, inner.status);
    assert_string_equal(outer.lease.owner, inner.lease.owner);
    assert_status(OK, async_release(&inner.lease));
    assert_status(BUSY, async_acquire(name, 0, &other));
    assert_status(OK, async_release(&outer.lease));
    assert_status(OK, async_acquire(name, 0, &other));
    assert_status(OK, async_release(&other.lease));
    dlock_async_owner_free(owner);
}

/* All calls with the lease are made while the first of them is under way. */
static void calls_with_one_lease_go_on_in_their_order(void)
{
    static struct async_answer held, answers[4];

    async_opts.variant = "reentrant";
    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &held));
    assert_status(OK, async_submit(dlock_async_renew, &held.lease, &answers[0]));
    assert_status(OK, async_submit(dlock_async_release, &held.lease, &answers[1]));
    assert_status(OK, async_submit(dlock_async_renew, &held.lease, &answers[2]));
    assert_status(OK, async_submit(dlock_async_release, &held.lease, &answers[3]));
    assert_status(OK, async_wait(&answers[0]));
    assert_status(OK, async_wait(&answers[1]));
    assert_status(INVALID, async_wait(&answers[2]));
    assert_true(strstr(answers[2].error, "released") != NULL);
    assert_status(INVALID, async_wait(&answers[3]));
}

static void leases_of_threads_and_of_calls_are_told_apart(void)
{
    const char *name = rig_name();
    static struct async_answer held;
    dlock_lease lease, copy;

    async_open();
    assert_status(OK, dlock_acquire(async_sys, name, 0, &lease));
    copy = lease;
    assert_status(INVALID, async_release(&copy));
    assert_status(OK, dlock_release(async_sys, &lease));
    assert_status(OK, async_acquire(name, 0, &held));
    copy = held.lease;
    assert_status(INVALID, dlock_renew(async_sys, &copy));
    assert_status(INVALID, dlock_release(async_sys, &copy));
    assert_status(OK, async_release(&held.lease));
}

/* ---- completions ---- */

enum { CHAIN = 200 };

static struct chain {
    const char *name;
    atomic_int granted, released;
    int refused; /* the number of polls and closes that the interface refused */
    atomic_int bad; /* the number of wrong answers */
} chain;

static void chain_released(dlock_status st, dlock_lease *lease, void *arg);

static void chain_granted(dlock_status st, dlock_lease *lease, void *arg)
{
    chain.bad += st != DLOCK_OK;
    chain.refused += dlock_poll(async_it, 0) == -1;
    chain.refused += dlock_async_close(async_it) == DLOCK_INVALID;
    atomic_fetch_add(&chain.granted, 1);
    chain.bad += dlock_async_release(async_it, lease, chain_released, arg) != DLOCK_OK;
}

static void chain_released(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)lease;
    chain.bad += st != DLOCK_OK;
    if (atomic_load(&chain.granted) < CHAIN)
        chain.bad += dlock_async_acquire(async_it, chain.name, NULL, NULL, chain_granted, arg,
                                         NULL) != DLOCK_OK;
    atomic_fetch_add(&chain.released, 1);
}

static void completions_make_calls(void)
{
    memset(&chain, 0, sizeof(chain));
    chain.name = rig_name();
    async_open();
    assert_status(OK, dlock_async_acquire(async_it, chain.name, NULL, NULL, chain_granted, NULL,
                                          NULL));
    assert_driven(atomic_load(&chain.released) == CHAIN || atomic_load(&chain.bad) > 0);
    assert_int_equal(CHAIN, atomic_load(&chain.granted));
    assert_int_equal(2 * CHAIN, chain.refused);
    assert_int_equal(0, atomic_load(&chain.bad));
}

/* ---- cancelling ---- */

static void a_wait_is_cancelled_by_its_number(void)
{
    const char *name = rig_name();
    static struct async_answer held, waiting[3];

    async_open();
    assert_status(OK, async_acquire(name, 0, &held));
    for (int i = 0; i < 3; i++)
        async_ask(name, -1, &waiting[i]);
    for (int i = 0; i < 10; i++)
        async_drive();
    assert_status(OK, dlock_async_cancel(async_it, waiting[1].call));
    assert_status(CANCELLED, async_wait(&waiting[1]));
    assert_int_equal(0, atomic_load(&waiting[0].count));
    /* The waiting call has ended. */
    assert_status(OK, dlock_async_cancel(async_it, waiting[1].call));
    assert_status(OK, dlock_async_cancel(async_it, waiting[0].call));
    assert_status(CANCELLED, async_wait(&waiting[0]));
    assert_status(OK, async_release(&held.lease));
    assert_status(OK, async_wait(&waiting[2]));
    assert_status(OK, async_release(&waiting[2].lease));
}

static void a_cancel_object_ends_a_wait(void)
{
    const char *name = rig_name();
    dlock_request request = {.wait_ms = -1, .cancel = rig_cancel()};
    static struct async_answer held, waiting;

    memset(&waiting, 0, sizeof(waiting));
    async_open();
    assert_status(OK, async_acquire(name, 0, &held));
    assert_status(OK, dlock_async_acquire(async_it, name, &request, NULL, async_note, &waiting,
                                          NULL));
    async_drive();
    dlock_cancel_fire(request.cancel);
    assert_status(CANCELLED, async_wait(&waiting));
    assert_status(OK, async_release(&held.lease));
}

/* ---- closing ---- */

enum { LEFT = 40 };

static atomic_int left_cancelled, left_refused;

static void note_left(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)lease;
    if (st != DLOCK_CANCELLED)
        return;
    atomic_fetch_add(&left_cancelled, 1);
    if (dlock_async_acquire(async_it, arg, NULL, NULL, note_left, arg, NULL) == DLOCK_INVALID)
        atomic_fetch_add(&left_refused, 1);
}

static void a_close_ends_the_calls_under_way(void)
{
    dlock_request request = {.wait_ms = -1};
    static char name[DLOCK_NAME_MAX + 1];
    static struct async_answer held;

    snprintf(name, sizeof(name), "%s", rig_name());
    atomic_store(&left_cancelled, 0);
    atomic_store(&left_refused, 0);
    async_open();
    assert_status(OK, async_acquire(name, 0, &held));
    for (int i = 0; i < LEFT; i++)
        assert_status(OK, dlock_async_acquire(async_it, name, &request, NULL, note_left, name,
                                              NULL));
    async_drive();
    assert_int_equal(LEFT, dlock_async_count(async_it));
    assert_status(OK, dlock_async_close(async_it));
    async_it = NULL;
    assert_int_equal(LEFT, atomic_load(&left_cancelled));
    assert_int_equal(LEFT, atomic_load(&left_refused));
    assert_true(dlock_lease_valid(async_sys, &held.lease)); /* the lease lasts to its end */
    assert_status(BUSY, rig_try(async_sys, name));

    /* An interface can be opened again. */
    assert_status(OK, dlock_async_open(&async_it, async_sys, 0));
    async_has_thread = false;
    assert_status(OK, async_release(&held.lease));
}

struct async_test async_calls_tests[] = {
    ASYNC_TEST(a_grant_excludes_and_a_release_frees),
    ASYNC_TEST(a_release_gives_the_lock_to_a_waiter),
    ASYNC_TEST(a_release_without_waiting_waits_beside_an_interface),
    ASYNC_TEST(a_wait_ends_with_its_time),
    ASYNC_TEST(a_renewal_moves_the_deadline),
    ASYNC_TEST(an_abandoned_lease_stays_until_its_end),
    ASYNC_TEST(only_a_named_owner_enters_again),
    ASYNC_TEST(calls_with_one_lease_go_on_in_their_order),
    ASYNC_TEST(leases_of_threads_and_of_calls_are_told_apart),
    ASYNC_TEST(completions_make_calls),
    ASYNC_TEST(a_wait_is_cancelled_by_its_number),
    ASYNC_TEST(a_cancel_object_ends_a_wait),
    ASYNC_TEST(a_close_ends_the_calls_under_way),
    {.name = NULL},
};
