/* SPDX-License-Identifier: MIT */
/* bell.c -- one thread sleeps until another rings, on a futex; or a fiber, in its loop.
 *
 * The kernel counts a relative timeout on CLOCK_MONOTONIC, so a sleep is cut into
 * slices of SLICE_MS: after a suspend it ends late by SLICE_MS at most.
 *
 * The wake may come when the sleeper has left already and its stack has another use.
 * That is harmless: a private futex wake only compares addresses, and another sleeper
 * on that address checks its state again.  The wake of a fiber is different: it comes
 * exactly once, and the fiber stays until it has come. */
#include "base/os/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/fiber.h"

enum { SLICE_MS = 1000 };
enum { SILENT, AWAITED, AWAITED_BY_FIBER, RUNG };

static void sleep_while_awaited(struct dlock_bell *bell, int64_t left_ns)
{
    struct timespec ts = {.tv_sec = left_ns / (1000 * DLOCK_NS_PER_MS),
                          .tv_nsec = left_ns % (1000 * DLOCK_NS_PER_MS)};

    /* Whatever ends this call, the caller checks the state again. */
    syscall(SYS_futex, &bell->state, FUTEX_WAIT_PRIVATE, AWAITED, &ts, NULL,
            0);
}

bool dlock_bell_is_rung(const struct dlock_bell *bell)
{
    return atomic_load_explicit(&bell->state, memory_order_relaxed) == RUNG;
}

static bool wait_in_fiber(struct dlock_bell *bell, struct dlock_fiber *fiber,
                          int64_t until_ns)
{
    uint32_t state = SILENT;

    atomic_store_explicit(&bell->sleeper, fiber, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&bell->state, &state, AWAITED_BY_FIBER))
        return true; /* the bell was rung before */
    if (fiber->host->sleep(fiber, until_ns))
        return true;
    state = AWAITED_BY_FIBER;
    if (atomic_compare_exchange_strong(&bell->state, &state, SILENT))
        return false;
    /* The bell has just been rung: the wake is on its way. */
    dlock_fiber_let_hurry(false);
    (void)fiber->host->sleep(fiber, INT64_MAX);
    return true;
}

bool dlock_bell_wait(struct dlock_bell *bell, int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();
    uint32_t state = SILENT;

    if (fiber != NULL)
        return wait_in_fiber(bell, fiber, until_ns);
    atomic_compare_exchange_strong(&bell->state, &state, AWAITED);
    while (atomic_load(&bell->state) != RUNG) {
        int64_t left_ns = until_ns - dlock_clock_ns();

        if (left_ns <= 0)
            return false;
        if (left_ns > SLICE_MS * DLOCK_NS_PER_MS)
            left_ns = SLICE_MS * DLOCK_NS_PER_MS;
        sleep_while_awaited(bell, left_ns);
    }
    return true;
}

static void wake(struct dlock_bell *bell)
{
    syscall(SYS_futex, &bell->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Wake both with one system call.  The call also writes to b's memory the value that it
 * read there.  That changes nothing, and fails if the memory of the sleeper is
 * unmapped. */
static bool wake_both(struct dlock_bell *a, struct dlock_bell *b)
{
    return syscall(SYS_futex, &a->state, FUTEX_WAKE_OP_PRIVATE, 1, 1L, &b->state,
                   FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, RUNG)) >= 0;
}

/* Set the bell to rung.  Returns whether a thread sleeps; *fiber is the sleeping fiber,
 * or NULL. The sleeper is read first, because it may go on as soon as the bell is
 * rung. */
static bool ring(struct dlock_bell *bell, struct dlock_fiber **fiber)
{
    uint32_t state = atomic_load(&bell->state);

    do
        *fiber = state == AWAITED_BY_FIBER
                     ? atomic_load_explicit(&bell->sleeper, memory_order_relaxed)
                     : NULL;
    while (!atomic_compare_exchange_weak(&bell->state, &state, RUNG));
    return state == AWAITED;
}

static void wake_fiber(struct dlock_fiber *fiber)
{
    if (fiber != NULL)
        fiber->host->wake(fiber);
}

void dlock_bell_ring(struct dlock_bell *bell)
{
    struct dlock_fiber *fiber;

    if (ring(bell, &fiber))
        wake(bell);
    wake_fiber(fiber);
}

void dlock_bell_ring_two(struct dlock_bell *a, struct dlock_bell *b)
{
    struct dlock_fiber *fiber_a, *fiber_b;
    bool is_awaited_a = ring(a, &fiber_a);
    bool is_awaited_b = ring(b, &fiber_b);

    wake_fiber(fiber_a);
    wake_fiber(fiber_b);
    if (is_awaited_a && is_awaited_b && wake_both(a, b))
        return;
    if (is_awaited_a)
        wake(a);
    if (is_awaited_b)
        wake(b);
}
