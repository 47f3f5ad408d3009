/* SPDX-License-Identifier: MIT */
/* replicas.c -- grants that the replicas behind Sentinels have to acknowledge, with each lock that
 * supports this. */
#include "tests/registered.h"
#include "tests/topology/sentinels.h"

#include "lock/dlock.h"

enum { TIMEOUT_MS = 1000, LEASE_MS = 30000 };

static const char *const VARIANTS[] = {"owner", "watch", "lua",  "lua-local", "reentrant",
                                       "spin",  "fenced", "fair", "rwlock"};
enum { VARIANT_COUNT = sizeof(VARIANTS) / sizeof(VARIANTS[0]) };

static dlock_system *open_system(const char *variant, int replica_count)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = variant;
    opts.redis_url = company.url;
    opts.redis_timeout_ms = TIMEOUT_MS;
    opts.lease_ms = LEASE_MS;
    opts.replicas_acknowledge = replica_count;
    assert_comes(dlock_open(&sys, &opts) == DLOCK_OK);
    return sys;
}

static long long has(int server, const char *name)
{
    char command[128];

    snprintf(command, sizeof(command), "EXISTS %s", name);
    return ask(server, "", command);
}

static void stop_replica(int i)
{
    kill(company.pids[i], SIGSTOP);
    waitpid(company.pids[i], NULL, WUNTRACED);
}

static uint64_t unacknowledged(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return metrics.unacknowledged;
}

/* A busy machine may delay a replica beyond the timeout, so a grant may need several tries. */
static void acquire(dlock_system *sys, const char *name, const dlock_request *request,
                    dlock_lease *lease)
{
    assert_comes(dlock_acquire_with(sys, name, request, lease) == DLOCK_OK);
}

TEST(is_on_both_replicas_when_it_is_granted)
{
    for (int i = 0; i < VARIANT_COUNT; i++) {
        const char *name = VARIANTS[i];
        dlock_request request = {0};
        dlock_system *sys = open_system(name, 2);
        dlock_lease lease;

        request.shared = strcmp(name, "rwlock") == 0;
        acquire(sys, name, &request, &lease);
        if (strcmp(name, "lua-local") != 0) { /* the 100 ms of lua-local may be over by now */
            assert_int_equal(1, has(1, name));
            assert_int_equal(1, has(2, name));
            assert_int_equal(DLOCK_OK, dlock_release_later(sys, &lease));
            assert_int_equal(0, has(0, name)); /* this release is waited for */
        }
        dlock_close(sys);
    }
}

/* Further levels of a hold, and renewals, need the same acknowledgements as the first grant. */
TEST(is_refused_and_gone_where_one_replica_stands_still)
{
    dlock_system *kept = open_system("reentrant", 2);
    dlock_lease outer, inner;

    acquire(kept, "kept", &(dlock_request){0}, &outer);
    stop_replica(2);
    for (int i = 0; i < VARIANT_COUNT; i++) {
        const char *name = VARIANTS[i];
        dlock_system *both = open_system(name, 2), *one = open_system(name, 1);
        dlock_lease lease;

        assert_int_equal(DLOCK_UNKNOWN, dlock_acquire(both, name, 0, &lease));
        if (strstr(dlock_error(), "acknowledged by 1 of 2 replicas in ") == NULL)
            print_error("%s: %s\n", name, dlock_error());
        assert_non_null(strstr(dlock_error(), "acknowledged by 1 of 2 replicas in "));
        assert_int_equal(0, has(0, name));
        assert_true(unacknowledged(both) > 0);
        acquire(one, name, &(dlock_request){0}, &lease);
        (void)dlock_release(one, &lease);
        dlock_close(both);
        dlock_close(one);
    }
    assert_int_equal(DLOCK_UNKNOWN, dlock_acquire(kept, "kept", 0, &inner));
    assert_int_equal(DLOCK_UNKNOWN, dlock_renew(kept, &outer));
    assert_true(dlock_lease_valid(kept, &outer));
    kill(company.pids[2], SIGCONT);
    assert_comes(dlock_renew(kept, &outer) == DLOCK_OK);
    acquire(kept, "kept", &(dlock_request){0}, &inner);
    assert_int_equal(DLOCK_OK, dlock_release(kept, &inner));
    assert_int_equal(1, has(0, "kept"));
    assert_int_equal(DLOCK_OK, dlock_release(kept, &outer));
    assert_int_equal(0, has(0, "kept"));
    dlock_close(kept);
}

/* A waiter goes on waiting while replicas are missing, and a killed connection counts as no
 * acknowledgement. */
TEST(a_waiter_outlives_missing_replicas)
{
    dlock_system *sys = open_system("lua", 2);
    dlock_lease lease;

    kill_server(1);
    assert_int_equal(DLOCK_UNKNOWN, dlock_acquire(sys, "late", 2 * TIMEOUT_MS, &lease));
    assert_int_equal(0, has(0, "late"));
    write_config(1, 0);
    launch(1);
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, "late", PATIENCE_MS, &lease));
    assert_int_equal(1, has(1, "late"));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
}

GROUP(start_company, end_company)
