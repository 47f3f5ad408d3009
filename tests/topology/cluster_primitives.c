/* SPDX-License-Identifier: MIT */
/* cluster_primitives.c -- semaphores, permits and latches in a real Redis Cluster. */
#include "tests/registered.h"
#include "tests/topology/cluster_locks.h"

#include "lock/fault.h"
#include "lock/primitives/primitives.h"

enum { LOOK_MS = 50, SOON_MS = 20000 };

/* The locks that keep several keys, or a key and a channel. */
static const char *const VARIANTS[] = {"reentrant", "spin", "fenced", "fair", "rwlock"};

static dlock_system *sys;
static dlock_primitives *prims;

static int open_prims(void **state)
{
    (void)state;
    return dlock_primitives_open(&prims, nodes.url, TIMEOUT_MS) == DLOCK_OK ? 0 : 1;
}

/* A call on a thread of its own. */
static struct {
    pthread_t thread;
    bool is_running;
    dlock_status (*wait)(const char *name);
    char name[64];
    dlock_status answer;
} waiting;

static void *run_wait(void *unused)
{
    waiting.answer = waiting.wait(waiting.name);
    return unused;
}

static void begin_wait(dlock_status wait(const char *name), const char *name)
{
    waiting.wait = wait;
    snprintf(waiting.name, sizeof(waiting.name), "%s", name);
    assert_int_equal(0, pthread_create(&waiting.thread, NULL, run_wait, NULL));
    waiting.is_running = true;
}

static dlock_status end_wait(void)
{
    pthread_join(waiting.thread, NULL);
    waiting.is_running = false;
    return waiting.answer;
}

static int close_prims(void **state)
{
    (void)dlock_fault_release(DLOCK_FAULT_AFTER_REPLY);
    if (waiting.is_running)
        (void)end_wait();
    dlock_primitives_close(prims);
    prims = NULL;
    return leave_no_trace(state);
}

/* The answers of every call of a kind to one name. A call that reads answers a number. */
enum { CALLS_MAX = 7 };

static int ask_semaphore(const char *name, dlock_status out[CALLS_MAX])
{
    int64_t number;

    out[0] = dlock_semaphore_set(prims, name, 2);
    out[1] = dlock_semaphore_acquire(prims, name, 1, 0);
    out[2] = dlock_semaphore_acquire(prims, name, 1, LOOK_MS);
    out[3] = dlock_semaphore_release(prims, name, 1);
    out[4] = dlock_semaphore_available(prims, name, &number);
    out[5] = dlock_semaphore_add(prims, name, 1);
    out[6] = dlock_semaphore_drain(prims, name, &number);
    return 7;
}

static int ask_permits(const char *name, dlock_status out[CALLS_MAX])
{
    dlock_permit permit = {.id = "00000000000000000000000000000000"};
    int64_t number;

    out[0] = dlock_permits_set(prims, name, 2);
    out[1] = dlock_permits_acquire(prims, name, LOOK_MS, LEASE_MS, &permit);
    out[2] = dlock_permits_renew(prims, name, &permit, LEASE_MS);
    out[3] = dlock_permits_available(prims, name, &number);
    out[4] = dlock_permits_acquired(prims, name, &number);
    out[5] = dlock_permits_release(prims, name, &permit);
    return 6;
}

static int ask_latch(const char *name, dlock_status out[CALLS_MAX])
{
    int64_t left;

    out[0] = dlock_latch_set(prims, name, 2);
    out[1] = dlock_latch_count_down(prims, name, NULL);
    out[2] = dlock_latch_count(prims, name, &left);
    out[3] = dlock_latch_delete(prims, name);
    out[4] = dlock_latch_wait(prims, name, 0);
    out[5] = dlock_latch_wait(prims, name, LOOK_MS);
    return 6;
}

/* Every call answers OK, or every call answers INVALID and says why. */
static void expect_answers(const char *kind, const char *name, bool is_refused,
                           int ask(const char *name, dlock_status out[CALLS_MAX]))
{
    dlock_status got[CALLS_MAX];
    int count = ask(name, got);

    for (int i = 0; i < count; i++)
        if (got[i] != (is_refused ? DLOCK_INVALID : DLOCK_OK))
            fail_msg("call %d of the %s \"%s\": %s: %s", i, kind, name, dlock_status_id(got[i]),
                     dlock_error());
    if (is_refused && strstr(dlock_error(), "brace") == NULL)
        fail_msg("the %s \"%s\": %s", kind, name, dlock_error());
}

static int ask_lock(const char *name, dlock_status out[CALLS_MAX])
{
    dlock_lease lease;
    dlock_info info;

    out[0] = dlock_acquire(sys, name, 0, &lease);
    out[1] = dlock_inspect(sys, name, &info);
    out[2] = dlock_force_release(sys, name);
    return 3;
}

/* The keys and the channel of a name have to be in one slot. If they are not, a call that changes
 * something would be refused by the node, and a look at one key alone would be answered: a waiter
 * would find no key of its latch, and go on. */
TEST_WITH(open_prims, close_prims, names_are_refused_as_those_of_locks)
{
    static const struct {
        const char *name;
        bool is_refused, is_no_latch;
    } NAMES[] = {
        {"plain", false, false},      {"{sale:7}", false, true}, {"{sale:7}ready", false, true},
        {"at{sale:7}{8}", false, true}, {"a{b", true, false},      {"a{}b", true, true},
        {"a{}{b}", true, true},       {"a}b", true, true},       {"}{a}", false, true},
        {"a{b}}", false, true},       {"}", true, true},         {"{", true, false},
    };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        const char *name = NAMES[i].name;
        char other[32];

        for (size_t v = 0; v < sizeof(VARIANTS) / sizeof(VARIANTS[0]); v++) {
            sys = open_locks(VARIANTS[v], nodes.url);
            assert_non_null(sys);
            expect_answers(VARIANTS[v], name, NAMES[i].is_refused, ask_lock);
            dlock_close(sys);
        }
        expect_answers("semaphore", name, NAMES[i].is_refused, ask_semaphore);
        snprintf(other, sizeof(other), "p%s", name);
        expect_answers("permits", other, NAMES[i].is_refused, ask_permits);
        snprintf(other, sizeof(other), "l%s", name);
        expect_answers("latch", other, NAMES[i].is_no_latch, ask_latch);
    }
}

/* ---- waiters, on every node ---- */

static dlock_status wait_for_latch(const char *name)
{
    return dlock_latch_wait(prims, name, SOON_MS);
}

static dlock_status wait_for_semaphore(const char *name)
{
    return dlock_semaphore_acquire(prims, name, 1, SOON_MS);
}

static dlock_status wait_for_permit(const char *name)
{
    dlock_permit permit;

    return dlock_permits_acquire(prims, name, SOON_MS, LEASE_MS, &permit);
}


/* Does a client listen on the channel at node `i`? */
static bool is_heard(int i, const char *channel)
{
    redisReply *reply = tell(i, "PUBSUB SHARDNUMSUB %s", channel);
    bool is_so = reply != NULL && reply->elements == 2 && reply->element[1]->integer > 0;

    freeReplyObject(reply);
    return is_so;
}

TEST_WITH(open_prims, close_prims, waiters_are_told_on_every_node)
{
    dlock_primitives *other = NULL;

    assert_int_equal(DLOCK_OK, dlock_primitives_open(&other, nodes.url, TIMEOUT_MS));
    for (int i = 0; i < MASTER_COUNT; i++) {
        char name[32], tagged[64], plain[64], channel[128];
        dlock_permit permit;

        name_on(i, name);
        snprintf(tagged, sizeof(tagged), "permits:{%s}:x", name);
        snprintf(plain, sizeof(plain), "semaphore:{%s}", name);
        assert_int_equal(DLOCK_OK, dlock_latch_set(other, name, 1));
        begin_wait(wait_for_latch, name);
        snprintf(channel, sizeof(channel), "redisson_countdownlatch__channel__{%s}", name);
        assert_comes(is_heard(i, channel));
        assert_int_equal(DLOCK_OK, dlock_latch_count_down(other, name, NULL));
        assert_int_equal(DLOCK_OK, end_wait());

        assert_int_equal(DLOCK_OK, dlock_semaphore_set(other, plain, 1));
        assert_int_equal(DLOCK_OK, dlock_semaphore_acquire(other, plain, 1, 0));
        begin_wait(wait_for_semaphore, plain);
        snprintf(channel, sizeof(channel), "redisson_sc:%s", plain);
        assert_comes(is_heard(i, channel));
        assert_int_equal(DLOCK_OK, dlock_semaphore_release(other, plain, 1));
        assert_int_equal(DLOCK_OK, end_wait());

        assert_int_equal(DLOCK_OK, dlock_permits_set(other, tagged, 1));
        assert_int_equal(DLOCK_OK, dlock_permits_acquire(other, tagged, 0, LEASE_MS, &permit));
        begin_wait(wait_for_permit, tagged);
        snprintf(channel, sizeof(channel), "redisson_sc:%s", tagged);
        assert_comes(is_heard(i, channel));
        assert_int_equal(DLOCK_OK, dlock_permits_release(other, tagged, &permit));
        assert_int_equal(DLOCK_OK, end_wait());
    }
    dlock_primitives_close(other);
}

/* ---- fail-overs, after which the new master lacks what the old one had ---- */

static bool is_master(int i)
{
    return has(tell(i, "INFO replication"), "role:master");
}

/* Empty the replica of the slots that node `i` had at the beginning, and let it become the master
 * in the map of `prims`. */
static void promote_empty(int i, const char *name)
{
    int master = is_master(i) ? i : i + MASTER_COUNT, replica = 2 * i + MASTER_COUNT - master;
    uint64_t before = redis_link_key_era(prims->link, name);

    assert_comes(is_linked(replica));
    assert_comes(has(tell(replica, "CONFIG SET replica-read-only no"), "OK"));
    assert_comes(has(tell(replica, "FLUSHALL"), "OK"));
    assert_comes(has(tell(replica, "CONFIG SET replica-read-only yes"), "OK"));
    assert_comes(is_master(replica) || has(tell(replica, "CLUSTER FAILOVER TAKEOVER"), "OK"));
    assert_comes(redis_link_key_era(prims->link, name) != before);
    assert_comes(is_settled() && is_linked(master));
}

TEST_WITH(open_prims, close_prims, a_latch_that_a_fail_over_lost_lets_nobody_pass)
{
    char name[32], channel[128];

    name_on(0, name);
    snprintf(channel, sizeof(channel), "redisson_countdownlatch__channel__{%s}", name);
    assert_int_equal(DLOCK_OK, dlock_latch_set(prims, name, 1));
    begin_wait(wait_for_latch, name);
    assert_comes(is_heard(is_master(0) ? 0 : MASTER_COUNT, channel));
    promote_empty(0, name);
    assert_int_equal(DLOCK_LOST, end_wait());
    assert_int_equal(DLOCK_OK, dlock_latch_wait(prims, name, 0)); /* as one that was never set */
}

static dlock_permit taken;

static dlock_status take_permit(const char *name)
{
    return dlock_permits_acquire(prims, name, SOON_MS, LEASE_MS, &taken);
}

static dlock_status renew_permit(const char *name)
{
    return dlock_permits_renew(prims, name, &taken, LEASE_MS);
}

static bool is_one_held(void)
{
    dlock_fault_state seen = {0};

    dlock_fault_look(DLOCK_FAULT_AFTER_REPLY, &seen);
    return seen.holding;
}

/* The old master answers the call, and the fail-over comes before the caller has the answer. */
static dlock_status answer_across_a_fail_over(dlock_status call(const char *name), const char *name)
{

    dlock_fault_allow();
    assert_true(dlock_fault_arm(DLOCK_FAULT_AFTER_REPLY, DLOCK_FAULT_HOLD, ""));
    begin_wait(call, name);
    assert_comes(is_one_held());
    promote_empty(1, name);
    assert_int_equal(DLOCK_OK, dlock_permits_set(prims, name, 1));
    assert_true(dlock_fault_release(DLOCK_FAULT_AFTER_REPLY));
    return end_wait();
}

TEST_WITH(open_prims, close_prims, a_permit_is_that_of_the_new_master)
{
    int64_t acquired = -1;
    char name[32];

    name_on(1, name);
    assert_int_equal(DLOCK_OK, dlock_permits_set(prims, name, 1));
    assert_int_equal(DLOCK_OK, answer_across_a_fail_over(take_permit, name));
    assert_int_equal(DLOCK_OK, dlock_permits_acquired(prims, name, &acquired));
    assert_int_equal(1, acquired);
    assert_int_equal(DLOCK_OK, renew_permit(name));
    assert_int_equal(DLOCK_LOST, answer_across_a_fail_over(renew_permit, name));
}

GROUP(start_nodes, end_nodes)
