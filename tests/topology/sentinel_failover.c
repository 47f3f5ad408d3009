/* SPDX-License-Identifier: MIT */
/* sentinel_failover.c -- real fail-overs while threads acquire and release locks: waiters go on,
 * holders learn that their leases are lost, and the old master grants nothing any more. */
#include "tests/registered.h"
#include "tests/topology/sentinels.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lock/dlock.h"
#include "tests/topology/lateness.h"

enum {
    WORKERS = 4,
    TIMEOUT_MS = 1000,
    LEASE_MS = 30000,
    /* From the new address to a grant; and until no script runs at the old master. */
    RESUME_MS = 1000,
    OLD_LIVES_MS = 3000, /* the old master runs again for this time, and no client asks it */
};

static struct {
    dlock_system *sys;
    atomic_bool stopping;
    pthread_t threads[WORKERS];
    _Atomic int64_t granted_ns; /* the last grant that was still valid afterwards */
    atomic_int failed_count;
    atomic_int lost_count;
} run;

static void note_loss(const dlock_lease *lease, void *arg)
{
    (void)arg;
    if (strcmp(lease->name, "held") == 0)
        atomic_fetch_add(&run.lost_count, 1);
}

/* Acquire and release one of two names until the end. */
static void *work(void *arg)
{
    const char *name = (uintptr_t)arg % 2 == 0 ? "even" : "odd";

    while (!atomic_load(&run.stopping)) {
        dlock_lease lease;

        if (dlock_acquire(run.sys, name, 20000, &lease) != DLOCK_OK) {
            atomic_fetch_add(&run.failed_count, 1);
            pause_ms(5);
            continue;
        }
        if (dlock_lease_valid(run.sys, &lease))
            atomic_store(&run.granted_ns, dlock_clock_ns());
        (void)dlock_release(run.sys, &lease);
    }
    return NULL;
}

static void begin(const char *variant)
{
    dlock_options opts = dlock_options_default();

    memset(&run, 0, sizeof(run));
    opts.variant = variant;
    opts.redis_url = company.url;
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = LEASE_MS;
    opts.watchdog = true;
    opts.on_lost = note_loss;
    assert_int_equal(DLOCK_OK, dlock_open(&run.sys, &opts));
    for (uintptr_t i = 0; i < WORKERS; i++)
        assert_int_equal(0, pthread_create(&run.threads[i], NULL, work, (void *)i));
    assert_true(lateness_begin());
    assert_comes(atomic_load(&run.granted_ns) != 0);
}

static void end(void)
{
    atomic_store(&run.stopping, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(run.threads[i], NULL);
    lateness_end();
    dlock_close(run.sys);
}

/* Wait until a Sentinel names the new master, and check what follows. Returns the time at which the
 * Sentinel named it. */
static int64_t judge_switch(const dlock_lease *held, int64_t broken_ns)
{
    int64_t named_ns, told_ns, resumed_ns, late_ns;

    assert_comes(is_switched());
    named_ns = dlock_clock_ns();
    late_ns = lateness_ns();
    assert_comes(!dlock_lease_valid(run.sys, held));
    told_ns = dlock_clock_ns();
    assert_comes(atomic_load(&run.granted_ns) > told_ns);
    resumed_ns = atomic_load(&run.granted_ns);
    late_ns = lateness_ns() - late_ns;
    print_message("# the new master is named after %lld ms, the holder learns it %lld ms and "
                  "others get locks %lld ms later, for %lld of which there was no processor\n",
                  (long long)(named_ns - broken_ns) / DLOCK_NS_PER_MS,
                  (long long)(told_ns - named_ns) / DLOCK_NS_PER_MS,
                  (long long)(resumed_ns - named_ns) / DLOCK_NS_PER_MS,
                  (long long)late_ns / DLOCK_NS_PER_MS);
    assert_true(resumed_ns - named_ns - late_ns <= RESUME_MS * DLOCK_NS_PER_MS);
    return named_ns;
}

/* The old master runs. From a second after the new address on, no script of a client runs there.
 * Before that, it executes the commands that were sent to it while it was stopped. */
static void judge_old_master(int64_t named_ns)
{
    int64_t from_ns = dlock_clock_after(named_ns, RESUME_MS);
    int64_t until_ns;

    assert_comes(ask(0, "PONG", "PING") == 1 && dlock_clock_ns() >= from_ns);
    assert_int_equal(1, ask(0, "PONG", "PING"));
    assert_int_equal(1, ask(0, "OK", "CONFIG RESETSTAT"));
    until_ns = dlock_clock_after(dlock_clock_ns(), OLD_LIVES_MS);
    while (dlock_clock_ns() < until_ns) {
        assert_int_equal(0, ask(0, "cmdstat_eval", "INFO commandstats"));
        pause_ms(20);
    }
}

/* A holder learns of its loss, and the next owner, who waits for the lock, gets it. */
static void hold_through(void (*break_master)(void), void (*mend)(void))
{
    dlock_lease held, next;
    int64_t named_ns, broken_ns;

    assert_int_equal(DLOCK_OK, dlock_acquire(run.sys, "held", 0, &held));
    assert_true(dlock_lease_valid(run.sys, &held));
    broken_ns = dlock_clock_ns();
    break_master();
    named_ns = judge_switch(&held, broken_ns);
    assert_comes(atomic_load(&run.lost_count) == 1);
    assert_int_equal(1, atomic_load(&run.lost_count));
    assert_int_equal(DLOCK_LOST, dlock_renew(run.sys, &held));
    assert_int_equal(DLOCK_LOST, dlock_release(run.sys, &held));
    assert_int_equal(DLOCK_OK, dlock_acquire(run.sys, "held", 5000, &next));
    assert_int_equal(DLOCK_OK, dlock_release(run.sys, &next));
    mend();
    judge_old_master(named_ns);
}

static void kill_master(void)
{
    kill_server(0);
}

/* The old master starts again as a master without data, and is demoted some seconds later. */
static void start_as_master(void)
{
    launch(0);
}

static void stop_master(void)
{
    kill(company.pids[0], SIGSTOP);
    waitpid(company.pids[0], NULL, WUNTRACED);
}

static void continue_master(void)
{
    kill(company.pids[0], SIGCONT);
}

static void shut_master_down(void)
{
    (void)ask(0, "", "SHUTDOWN NOSAVE");
    await_end(0);
}

static void tell_to_fail_over(void)
{
    assert_int_equal(1, ask(REDIS_COUNT, "OK", "SENTINEL FAILOVER shop"));
}

static void leave_as_is(void)
{
}

static void try(const char *variant, void (*break_master)(void), void (*mend)(void))
{
    begin(variant);
    hold_through(break_master, mend);
    end();
}

TEST_WITH(start_company, end_company, master_is_killed)
{
    try("reentrant", kill_master, start_as_master);
}

TEST_WITH(start_company, end_company, master_is_stopped)
{
    try("fair", stop_master, continue_master);
}

TEST_WITH(start_company, end_company, master_shuts_down)
{
    try("lua", shut_master_down, start_as_master);
}

TEST_WITH(start_company, end_company, sentinel_is_told)
{
    try("reentrant", tell_to_fail_over, leave_as_is);
}
