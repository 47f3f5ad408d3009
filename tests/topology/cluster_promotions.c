/* SPDX-License-Identifier: MIT */
/* cluster_promotions.c -- locks in a real Redis Cluster while replicas become the masters. */
#include "tests/registered.h"
#include "tests/topology/cluster_locks.h"

#include "base/redis/traffic.h"
#include "lock/dlock_later.h"
#include "lock/dlock_metrics.h"

enum {
    RESUME_MS = 2000, /* the longest time from the promotion to a grant */
    SLOW_MS = 30000,  /* the timeout of requests that must end without an answer */
    PAUSE_MS = 6000,
    QUESTIONS = 16,   /* within a pause; a system that waits for no answer would send fewer */
};

static bool is_promoted(int i)
{
    return has(tell(i, "INFO replication"), "role:master");
}

/* `break_it` takes a master away: the holder of its lock learns of the loss, and the holder of
 * another master's lock keeps it. */
static void judge_promotion(void (*break_it)(int), void (*mend)(int))
{
    dlock_system *sys = open_locks_within("reentrant", nodes.url, SLOW_MS);
    dlock_lease gone, kept;
    char name[32], held_name[40], other_name[32];
    int master = is_promoted(2) ? 2 : 5, replica = 7 - master;
    int64_t promoted_ns, resumed_ns, late_ns;
    dlock_status st;

    name_on(2, name);
    snprintf(held_name, sizeof(held_name), "held:{%s}", name);
    name_on(0, other_name);
    assert_comes(is_linked(replica));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, held_name, 5000, &gone));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, other_name, 5000, &kept));
    start_contenders("reentrant", name);
    await_grants(10);
    break_it(master);
    assert_comes(is_promoted(replica));
    promoted_ns = dlock_clock_ns();
    late_ns = lateness_ns();
    assert_comes(!dlock_lease_valid(sys, &gone));
    assert_comes(atomic_load(&contenders.granted_ns) > promoted_ns);
    resumed_ns = atomic_load(&contenders.granted_ns);
    late_ns = lateness_ns() - late_ns;
    print_message(
        "# others get locks %lld ms after the promotion, %lld of them without a processor\n",
        (long long)(resumed_ns - promoted_ns) / DLOCK_NS_PER_MS,
        (long long)late_ns / DLOCK_NS_PER_MS);
    assert_true(resumed_ns - promoted_ns - late_ns < RESUME_MS * DLOCK_NS_PER_MS);
    assert_true(dlock_lease_valid(sys, &kept));
    /* The answer is UNKNOWN if the first request went to a connection that the promotion ended. */
    st = dlock_release(sys, &gone);
    assert_true(st == DLOCK_LOST || st == DLOCK_UNKNOWN);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &kept));
    mend(master);
    await_grants(10);
    assert_int_equal(0, atomic_load(&contenders.overlap_count));
    stop_contenders();
    dlock_close(sys);
    assert_comes(is_settled() && is_linked(master));
}

static void stop_node(int i)
{
    kill(nodes.pids[i], SIGSTOP);
}

static void resume_node(int i)
{
    kill(nodes.pids[i], SIGCONT);
}

TEST_WITH(NULL, leave_no_trace, a_killed_master_is_followed_and_its_leases_are_lost)
{
    judge_promotion(kill_node, launch);
}

TEST_WITH(NULL, leave_no_trace, a_stopped_master_is_followed_and_its_leases_are_lost)
{
    judge_promotion(stop_node, resume_node);
}

static int64_t fail_over_count(dlock_system *sys)
{
    dlock_metrics metrics;

    dlock_metrics_read(sys, &metrics);
    return (int64_t)metrics.fail_overs;
}

/* The old master redirects before the library has asked again for the map of the slots. */
TEST_WITH(NULL, leave_no_trace, a_grant_by_a_redirect_outlives_the_news_of_the_promotion)
{
    dlock_system *sys = open_locks("reentrant", nodes.url);
    char name[32];
    int master = is_promoted(0) ? 0 : 3, replica = 3 - master;
    int64_t before;
    dlock_lease lease;

    name_on(0, name);
    assert_comes(is_linked(replica));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    before = fail_over_count(sys);
    assert_true(has(tell(replica, "CLUSTER FAILOVER TAKEOVER"), "OK"));
    assert_comes(!is_promoted(master));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 5000, &lease));
    assert_comes(fail_over_count(sys) > before);
    assert_true(dlock_lease_valid(sys, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
    assert_comes(is_settled() && is_linked(master));
}

/* The node that is now the master of the slots of node `i`, and the node that is its replica. */
static int master_of(int i)
{
    return is_promoted(i) ? i : i + MASTER_COUNT;
}

static int replica_of(int i)
{
    return is_promoted(i) ? i + MASTER_COUNT : i;
}

/* Let the nodes serve while masters are away (`may`), and do not let `replica` promote itself; or
 * undo this. */
static void let_masters_be_away(int replica, bool may)
{
    for (int i = 0; i < NODE_COUNT; i++)
        assert_true(
            has(tell(i, "CONFIG SET cluster-require-full-coverage %s", may ? "no" : "yes"), "OK"));
    assert_true(
        has(tell(replica, "CONFIG SET cluster-replica-no-failover %s", may ? "yes" : "no"), "OK"));
}

static bool are_requests_under_way(int count)
{
    struct redis_traffic traffic;

    redis_traffic_read(&traffic);
    return traffic.in_flight >= count;
}

/* The thread that waits for the answers to such releases waits for another master, which is stopped
 * too. So no thread reads the connection of this master. */
TEST_WITH(NULL, leave_no_trace, a_release_that_nobody_waits_for_outlives_its_master)
{
    dlock_system *sys = open_locks_within("reentrant", nodes.url, SLOW_MS);
    char name[32], other_name[32];
    int master = master_of(1), replica = replica_of(1), other = master_of(0);
    dlock_lease lease, other_lease;
    int64_t before;

    assert_comes(is_linked(replica));
    let_masters_be_away(replica_of(0), true);
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name_on(1, name), 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name_on(0, other_name), 0, &other_lease));
    before = fail_over_count(sys);
    stop_node(other);
    assert_int_equal(DLOCK_OK, dlock_release_later(sys, &other_lease));
    assert_comes(are_requests_under_way(2)); /* the release, and the question after it */
    stop_node(master);
    assert_int_equal(DLOCK_OK, dlock_release_later(sys, &lease));
    dlock_send_debts(sys);
    assert_true(has(tell(replica, "CLUSTER FAILOVER TAKEOVER"), "OK"));
    assert_comes(fail_over_count(sys) > before);
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, SLOW_MS / 3, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    resume_node(other);
    resume_node(master);
    assert_comes(dlock_pay_debts(sys, 0) == 0);
    dlock_close(sys);
    assert_comes(is_settled() && is_linked(master));
    let_masters_be_away(replica_of(0), false);
}

/* The number of times that the nodes were asked for the map of the slots. */
static int64_t question_count(void)
{
    static const char FIELD[] = "cmdstat_cluster|nodes:calls=";
    int64_t count = 0;

    for (int i = 0; i < NODE_COUNT; i++) {
        redisReply *reply = tell(i, "INFO commandstats");
        const char *at = reply != NULL && reply->str != NULL ? strstr(reply->str, FIELD) : NULL;

        if (at != NULL)
            count += strtoll(at + strlen(FIELD), NULL, 10);
        freeReplyObject(reply);
    }
    return count;
}

TEST_WITH(NULL, leave_no_trace, a_late_answer_makes_the_library_ask_who_has_the_slot)
{
    dlock_system *sys = open_locks_within("reentrant", nodes.url, SLOW_MS);
    int master = master_of(1);
    char name[32];
    dlock_lease lease;
    int64_t before;

    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name_on(1, name), 0, &lease));
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    before = question_count();
    assert_true(has(tell(master, "CLIENT PAUSE %d WRITE", (int)PAUSE_MS), "OK"));
    assert_int_equal(DLOCK_OK, dlock_acquire(sys, name, 0, &lease));
    assert_true(question_count() - before > QUESTIONS);
    assert_int_equal(DLOCK_OK, dlock_release(sys, &lease));
    dlock_close(sys);
}

GROUP(start_nodes, end_nodes)
