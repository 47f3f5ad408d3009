/* SPDX-License-Identifier: MIT */
/* laws_exclusion.c -- one holder at a time: among systems, threads and processes. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock/fault.h"
#include "tests/conformance/laws.h"

enum {
    THREADS_PER_SYSTEM = 6,
    ROUNDS = 25,
    LOSS_TRIES = 50,
    CHILD_BUSY = 10, /* exit codes of the other process */
    CHILD_OK = 11,
    CHILD_LEASE_MS = 500, /* the lease of a child that is killed */
    /* The lease of a waiter that is killed. Its place in the queue may go with its session, and an
     * attempt that was under way may still be granted. */
    WAITER_LEASE_MS = 1500,
};

void excludes_a_second_owner(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    const char *other_name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_true(dlock_lease_valid(pair.a, &lease));
    assert_true(dlock_lease_left_ms(pair.a, &lease) > 0);
    assert_string_equal(name, lease.name);
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(BUSY, rig_try_elsewhere(pair.a, name));
    assert_status(BUSY, rig_try_elsewhere(pair.b, name));
    assert_status(OK, rig_try(pair.b, other_name));
    assert_status(OK, dlock_release(pair.a, &lease));
    assert_false(dlock_lease_valid(pair.a, &lease));
    assert_int_equal(0, dlock_lease_left_ms(pair.a, &lease));
    assert_status(OK, rig_try(pair.b, name));
    assert_status(OK, rig_try_elsewhere(pair.a, name));
    assert_status(OK, rig_try(pair.a, name));
}

void lets_everybody_in(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_status(OK, rig_try(pair.b, name));
    assert_status(OK, rig_try_elsewhere(pair.a, name));
    assert_true(dlock_lease_valid(pair.a, &lease));
    assert_status(OK, dlock_release(pair.a, &lease));
}

/* Many threads increment a counter, protected by the lock alone. The counter is atomic only so that
 * a missing lock is no data race of the language. */
struct counting {
    dlock_system *sys;
    const char *name;
    atomic_int *counter;
    int failed_count;
    pthread_t thread;
};

static bool counting_has_failed(struct counting *c, const char *call, dlock_status st)
{
    if (st == DLOCK_OK)
        return false;
    print_message("# %s: %s: %s\n", call, dlock_status_text(st), dlock_error());
    c->failed_count++;
    return true;
}

static void *count_up(void *arg)
{
    struct counting *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        dlock_lease lease;
        dlock_status st = dlock_acquire(c->sys, c->name, PATIENCE_MS, &lease);
        int seen;

        if (counting_has_failed(c, "dlock_acquire", st))
            break;
        seen = atomic_load(c->counter);
        sched_yield();
        atomic_store(c->counter, seen + 1);
        (void)counting_has_failed(c, "dlock_release", dlock_release(c->sys, &lease));
    }
    return NULL;
}

/* The number of lost increments; -1 if a call failed. */
static int count_losses(const char *variant)
{
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    struct counting counting[2 * THREADS_PER_SYSTEM];
    const char *name = rig_name();
    atomic_int counter = 0;
    int failed_count = 0;

    for (int i = 0; i < 2 * THREADS_PER_SYSTEM; i++) {
        counting[i] = (struct counting){.sys = i % 2 == 0 ? pair.a : pair.b,
                                        .name = name,
                                        .counter = &counter};
        assert_int_equal(
            0, pthread_create(&counting[i].thread, NULL, count_up, &counting[i]));
    }
    for (int i = 0; i < 2 * THREADS_PER_SYSTEM; i++) {
        pthread_join(counting[i].thread, NULL);
        failed_count += counting[i].failed_count;
    }
    return failed_count > 0 ? -1 : 2 * THREADS_PER_SYSTEM * ROUNDS - counter;
}

void loses_no_update(const char *variant)
{
    assert_int_equal(0, count_losses(variant));
}

void loses_updates(const char *variant)
{
    int lost = 0;

    for (int i = 0; i < LOSS_TRIES && lost == 0; i++) {
        lost = count_losses(variant);
        rig_reset();
    }
    assert_true(lost > 0);
}

/* The main function of another process, which is this program: `conformance --child WHAT VARIANT
 * NAME`. */
int child_main(int argc, char **argv)
{
    dlock_request request = {0};
    dlock_system *sys = NULL;
    dlock_options opts;
    dlock_lease lease;
    dlock_status st;
    int64_t asked_ms;
    bool is_late;

    if (argc != 5)
        return 64;
    request.shared = strcmp(argv[2], "read") == 0;
    opts = rig_options(argv[3]);
    opts.watchdog = true;
    if (strcmp(argv[2], "hold") == 0 || strcmp(argv[2], "die") == 0)
        opts.lease_ms = CHILD_LEASE_MS;
    if (strcmp(argv[2], "wait") == 0) {
        request.wait_ms = -1;
        opts.lease_ms = WAITER_LEASE_MS;
    }
    if (strcmp(argv[2], "die") == 0) { /* variants without this fault point acquire and hold */
        dlock_fault_allow();
        dlock_fault_arm(DLOCK_FAULT_BETWEEN_SETNX_AND_EXPIRE, DLOCK_FAULT_KILL, "");
    }
    if (dlock_open(&sys, &opts) != DLOCK_OK)
        return 1;
    asked_ms = rig_now_ms();
    st = dlock_acquire_with(sys, argv[4], &request, &lease);
    is_late = rig_now_ms() - asked_ms > opts.lease_ms / 2;
    if (strcmp(argv[2], "fence") == 0) {
        printf("%" PRIu64 "\n", st == DLOCK_OK ? lease.fence : 0);
    } else if (strcmp(argv[2], "try") != 0 && !request.shared) {
        puts(is_late ? "late" : st == DLOCK_OK ? "held" : dlock_error());
        fflush(stdout);
        pause();
    }
    if (st == DLOCK_OK)
        dlock_release(sys, &lease);
    dlock_close(sys);
    return st == DLOCK_OK ? CHILD_OK : st == DLOCK_BUSY ? CHILD_BUSY : 1;
}

static pid_t start_child(const char *what, const char *variant, const char *name,
                         int *out_fd)
{
    int ends[2];
    pid_t pid;

    assert_int_equal(0, pipe(ends));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "conformance", "--child", what, variant, name,
              (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *out_fd = ends[0];
    return pid;
}

pid_t wait_by_another_process(const char *variant, const char *name)
{
    int out_fd;
    pid_t pid = start_child("wait", variant, name, &out_fd);

    close(out_fd);
    return pid;
}

/* The exit code of another process that tries the lock. */
static int exit_code_elsewhere(const char *what, const char *variant, const char *name)
{
    int status = 0;
    int out_fd;
    pid_t pid = start_child(what, variant, name, &out_fd);

    close(out_fd);
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

uint64_t fence_of_another_process(const char *variant, const char *name)
{
    char said[24] = "";
    int status = 0;
    int out_fd;
    pid_t pid = start_child("fence", variant, name, &out_fd);

    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_OK);
    assert_true(read(out_fd, said, sizeof(said) - 1) > 0);
    close(out_fd);
    return strtoull(said, NULL, 10);
}

static void try_from_another_process(const char *variant, int expected)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(expected, exit_code_elsewhere("try", variant, name));
    assert_status(OK, dlock_release(sys, &lease));
    assert_int_equal(CHILD_OK, exit_code_elsewhere("try", variant, name));
}

void excludes_another_process(const char *variant)
{
    try_from_another_process(variant, CHILD_BUSY);
}

void lets_another_process_in(const char *variant)
{
    try_from_another_process(variant, CHILD_OK);
}

/* Start another process that acquires `name` ("hold"), or that kills itself between SETNX and
 * EXPIRE if the variant has that gap ("die"). Kill it once it holds. */
static void kill_a_holder(const char *what, const char *variant, const char *name)
{
    bool dies = strcmp(what, "die") == 0 &&
                !(rig_caps(variant) & (DLOCK_CAP_ATOMIC | DLOCK_CAP_SESSION));
    char said[5] = "";
    ssize_t said_len;
    int out_fd;
    pid_t pid = start_child(what, variant, name, &out_fd);

    said_len = read(out_fd, said, 4);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(out_fd);
    presume(strcmp(said, "late") != 0);
    assert_int_equal(dies ? 0 : 4, said_len);
    assert_string_equal(dies ? "" : "held", said);
}

void frees_a_killed_holder(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    const char *name = rig_name();
    dlock_lease lease;

    kill_a_holder("hold", variant, name);
    assert_status(OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
    assert_status(OK, dlock_release(sys, &lease));
    kill_a_holder("die", variant, name);
    assert_status(OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
    assert_status(OK, dlock_release(sys, &lease));
}

/* The lock of a holder that was killed after its EXPIRE is freed by its lease. The lock of a holder
 * that was killed between SETNX and EXPIRE has no lease: it is freed by nobody, except that a
 * waiter of `watch` gives it a lease. */
void frees_no_holder_killed_between(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_system *sys;
    dlock_lease lease;

    opts.lease_ms = SHORT_LEASE_MS;
    sys = rig_open(&opts);
    servers_find(&opts);
    kill_a_holder("hold", variant, name);
    assert_status(OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
    assert_status(OK, dlock_release(sys, &lease));
    kill_a_holder("die", variant, name);
    assert_int_equal(-1, servers_ask(0, "PTTL %s", name));
    if (rig_is(variant, "watch")) {
        assert_stays(servers_ask(0, "PTTL %s", name) == -1, SHORT_LEASE_MS);
        assert_status(OK, dlock_acquire(sys, name, PATIENCE_MS, &lease));
        assert_status(OK, dlock_release(sys, &lease));
    } else {
        assert_status(TIMEOUT, dlock_acquire(sys, name, 3 * SHORT_LEASE_MS, &lease));
        assert_int_equal(1, servers_ask(0, "DEL %s", name));
    }
}

/* A lock has ended, and many threads ask for it at once. For getset this is a race of its own,
 * since its key is still there. */
void lets_one_of_many_in(const char *variant)
{
    enum { COMERS = 6, RACES = 20 };
    dlock_options opts = rig_options(variant);
    struct rig_pair pair = rig_open_pair(&opts);
    bool is_getset = rig_is(variant, "getset");

    servers_find(&opts);
    for (int race = 0; race < RACES; race++) {
        struct rig_helper *comers[COMERS];
        const char *name = rig_name();
        int granted_count = 0;

        if (is_getset)
            /* The value of a lock that ended in 2001. */
            servers_tell(0, "SET %s 1000000000000", name);
        for (int i = 0; i < COMERS; i++)
            comers[i] = rig_helper_start(i % 2 == 0 ? pair.a : pair.b, name, 0);
        for (int i = 0; i < COMERS; i++)
            granted_count += rig_helper_acquired(comers[i]) == DLOCK_OK;
        for (int i = 0; i < COMERS; i++)
            rig_helper_finish(comers[i]);
        assert_true(granted_count <= 1);
    }
}

void another_process_reads_along(const char *variant)
{
    dlock_options opts = rig_options(variant);
    dlock_request read = {.shared = true};
    const char *name = rig_name();
    dlock_system *sys = rig_open(&opts);
    dlock_lease lease;

    assert_status(OK, dlock_acquire_with(sys, name, &read, &lease));
    assert_int_equal(CHILD_OK, exit_code_elsewhere("read", variant, name));
    assert_int_equal(CHILD_BUSY, exit_code_elsewhere("try", variant, name));
    assert_status(OK, dlock_release(sys, &lease));
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(CHILD_BUSY, exit_code_elsewhere("read", variant, name));
    assert_status(OK, dlock_release(sys, &lease));
}
