/* SPDX-License-Identifier: MIT */
/* bystander.c -- additional calls during the rounds, and the checks of their answers.
 *
 *   miscount  dlock_inspect() says that a lock is free which its caller holds; or on_lost() was
 *             called more or less often than the descriptor counts
 *   twice     the number of debts paid and given up is not the number of debts made
 *   shut      after the faults, debts were not paid within a minute
 *   crash     a call of a forked child with its parent's system was not refused */
#include "tests/simulation/bystander.h"

#include <inttypes.h>

#include "tests/simulation/oracle.h"
#include "tests/simulation/os.h"
#include "tests/simulation/recording.h"

enum { PAYS_MS = 60000 };

static const char *any_name(int *number)
{
    *number = (int)chance_between(0, workload.name_count - 1);
    return workload.names[*number];
}

/* ---- a child ---- */

static void expect_refusal(const char *call, bool is_refused)
{
    if (!is_refused)
        world_condemn(CRASH, "a child of fork() is not refused by %s of its parent's system",
                      call);
}

/* The thread goes on as the only thread of a child, calls with the system of the parent, and
 * exits. */
static void fork_child(struct process *process, const dlock_lease *held)
{
    dlock_lease lease = held != NULL ? *held : (dlock_lease){.name = "lock:a"};
    dlock_system *sys = process->sys;
    dlock_info info;

    task_held_fast++;
    task_here->site->fork_count++;
    expect_refusal("dlock_acquire()", dlock_acquire(sys, "lock:a", 0, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_renew()", dlock_renew(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_release()", dlock_release(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_release_later()", dlock_release_later(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_abandon()", dlock_abandon(sys, &lease) == DLOCK_INVALID);
    expect_refusal("dlock_inspect()", dlock_inspect(sys, "lock:a", &info) == DLOCK_INVALID);
    expect_refusal("dlock_force_release()",
                   dlock_force_release(sys, "lock:a") == DLOCK_INVALID);
    expect_refusal("dlock_check()", dlock_check(sys) == DLOCK_INVALID);
    expect_refusal("dlock_lease_valid()", !dlock_lease_valid(sys, &lease));
    expect_refusal("dlock_lease_left_ms()", dlock_lease_left_ms(sys, &lease) == 0);
    expect_refusal("dlock_lost_fd()", dlock_lost_fd(sys) == -1);
    expect_refusal("dlock_pay_debts()", dlock_pay_debts(sys, -1) == 0);
    dlock_send_debts(sys);
    expect_refusal("dlock_async_cancel()", process->async == NULL ||
                   dlock_async_cancel(process->async, 1) == DLOCK_INVALID);
    expect_refusal("dlock_async_release()", process->async == NULL ||
                   dlock_async_release(process->async, &lease, NULL, NULL) == DLOCK_INVALID);
    expect_refusal("dlock_poll()",
                   process->async == NULL || dlock_poll(process->async, 0) == -1);
    expect_refusal("dlock_async_close()", process->async == NULL ||
                   dlock_async_close(process->async) == DLOCK_INVALID);
    dlock_close(sys);
    task_here->site->fork_count--;
    task_held_fast--;
    tell("process %d forks a child", process->site.number);
    if (chance_one_in(2))
        (void)workload_add_child(process);
}

/* ---- inspections ---- */

static void inspect(struct process *process, const dlock_lease *held)
{
    int number;
    const char *name = held != NULL ? held->name : any_name(&number);
    dlock_info info;
    dlock_status st = dlock_inspect(process->sys, name, &info);
    bool is_held = held != NULL && world.is_calm && oracle_is_valid(process, held) &&
                   !oracle_is_forced(held);

    if (st == DLOCK_UNSUPPORTED)
        return;
    workload_check("an inspection", st);
    if (st == DLOCK_OK && is_held && !info.locked)
        world_condemn(MISCOUNT, "%s is free by dlock_inspect(), and its asker holds it", name);
}

/* Free a lock by force, in calm alone: in other classes an unanswered request to free it could free
 * a later hold. Only for variants that know their owners: with the others, the release of a holder
 * whose lock was freed frees the lock of the next holder. */
static void force(struct process *process)
{
    int number;
    const char *name = any_name(&number);
    dlock_status st;

    if (!world.is_calm || workload.is_handed_over || !(workload.variant->caps & DLOCK_CAP_OWNED))
        return;
    oracle_begin_force(number);
    recording_force(true);
    st = dlock_force_release(process->sys, name);
    recording_force(false);
    oracle_end_force(number);
    if (st != DLOCK_UNSUPPORTED)
        workload_check("a release by force", st);
}

void bystander_play(struct process *process, const dlock_lease *held)
{
    dlock_metrics metrics;

    int64_t drawn = chance_between(0, 40);

    if (drawn > 8 || !world_has_room(SIZE_BYSTANDERS))
        return;
    switch (drawn) {
    case 0:
    case 1:
        inspect(process, held);
        break;
    case 2:
        if (chance_one_in(4))
            force(process);
        break;
    case 3:
        workload_check("a check", dlock_check(process->sys));
        break;
    case 4:
        dlock_metrics_read(process->sys, &metrics);
        if (metrics.debts_paid + metrics.debts_given_up > metrics.debts)
            world_condemn(TWICE, "%" PRIu64 " debts were paid, and %" PRIu64 " made",
                          metrics.debts_paid, metrics.debts);
        break;
    case 5:
        fork_child(process, held);
        break;
    case 6:
    case 7:
        dlock_send_debts(process->sys);
        break;
    case 8:
        (void)dlock_pay_debts(process->sys, chance_skewed(0, 1000));
        break;
    default:
        break;
    }
}

/* ---- the end ---- */

void bystander_end(struct process *process)
{
    uint64_t left = dlock_pay_debts(process->sys, PAYS_MS);
    dlock_metrics metrics;

    dlock_metrics_read(process->sys, &metrics);
    if (left > 0)
        world_condemn(SHUT, "%" PRIu64 " debts were not paid within %d s after the faults", left,
                      PAYS_MS / 1000);
    if (metrics.debts != metrics.debts_paid + metrics.debts_given_up)
        world_condemn(TWICE, "%" PRIu64 " debts were made, %" PRIu64 " paid and %" PRIu64
                      " given up", metrics.debts, metrics.debts_paid, metrics.debts_given_up);
    if (process->lost_fd >= 0 && process->has_lost_fn &&
        os_event_count(process->lost_fd) != process->lost_count)
        world_condemn(MISCOUNT, "%" PRIu64 " losses were told, and the descriptor says %" PRIu64,
                      process->lost_count, os_event_count(process->lost_fd));
}
