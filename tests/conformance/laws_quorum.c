/* SPDX-License-Identifier: MIT */
/* laws_quorum.c -- any majority of the nodes is enough. */
#include <signal.h>

#include "tests/conformance/laws.h"

enum {
    QUORUM_NODES = 3,
    HUNG_ROUNDS = 40,
    HUNG_PAUSE_MS = 500, /* the longest time for which the library leaves a node alone */
    HUNG_WAITS = 14,      /* of two systems, until they leave it alone for that long */
};

#define HUNG_TIMEOUT_MS STRETCHED(200)

static bool is_taken(unsigned mask, size_t node)
{
    return mask >> node & 1u;
}

/* Try the lock while another owner holds the nodes in `mask`. */
static void try_with_taken(dlock_system *sys, unsigned mask)
{
    const char *name = rig_name();
    int free_count = 0;
    dlock_lease lease;
    dlock_status st;

    for (size_t i = 0; i < SERVERS_MAX; i++) {
        if (is_taken(mask, i))
            servers_tell(i, "SET %s other PX 60000", name);
        else
            free_count++;
    }
    st = dlock_acquire(sys, name, 0, &lease);
    if (free_count >= QUORUM_NODES) {
        assert_status(OK, st);
        assert_int_equal(SERVERS_MAX, servers_count_keys(name));
        assert_status(OK, dlock_release(sys, &lease));
    } else {
        assert_status(BUSY, st);
    }
    /* The nodes of the other owner are still locked, and none of the other nodes is. */
    for (size_t i = 0; i < SERVERS_MAX; i++)
        assert_int_equal(is_taken(mask, i), servers_ask(i, "EXISTS %s", name));
    for (size_t i = 0; i < SERVERS_MAX; i++)
        servers_tell(i, "DEL %s", name);
}

void needs_a_majority(const char *variant)
{
    dlock_options opts = rig_options(variant);

    assert_int_equal(SERVERS_MAX, servers_find(&opts));
    for (int sequential = 0; sequential < 2; sequential++) {
        dlock_system *sys;

        opts.redlock_sequential = sequential;
        sys = rig_open(&opts);
        for (unsigned mask = 0; mask < 1u << SERVERS_MAX; mask++)
            try_with_taken(sys, mask);
    }
}

static void use_with_dead_nodes(dlock_options *opts)
{
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;

    servers_start(opts);
    pair = rig_open_pair(opts);
    servers_signal(3, 2, SIGKILL);
    for (int i = 0; i < HUNG_ROUNDS; i++) {
        assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
        assert_status(BUSY, rig_try(pair.b, name));
        assert_status(OK, dlock_renew(pair.a, &lease));
        assert_status(OK, dlock_release(pair.a, &lease));
    }
    assert_status(OK, dlock_check(pair.a));
    servers_signal(2, 1, SIGKILL);
    assert_true(dlock_is_failure(rig_try(pair.a, name)));
    assert_status(IO, dlock_check(pair.a));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(0, servers_ask(i, "EXISTS %s", name));
    servers_restart(2);
    assert_comes(rig_try(pair.a, name) == DLOCK_OK);
    rig_reset();
}

void survives_dead_nodes(const char *variant)
{
    dlock_options opts = rig_options(variant);

    use_with_dead_nodes(&opts);
    opts = rig_options(variant);
    opts.redlock_sequential = true;
    use_with_dead_nodes(&opts);
}

/* A node dies before the release, so the release finds its part on the other nodes only. When the
 * release is tried again, these nodes have nothing more to free.
 * Found by the simulation: `redlock` and `multi` answered LOST to a release beside a dead node. */
static void release_beside_a_dead_node(const char *variant, size_t taken_count)
{
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    dlock_status checked;
    dlock_system *sys;
    dlock_lease lease;

    servers_start(&opts);
    sys = rig_open(&opts);
    for (size_t i = 0; i < taken_count; i++)
        servers_tell(i, "SET %s other PX 60000", name);
    assert_status(OK, dlock_acquire(sys, name, 0, &lease));
    servers_signal(4, 1, SIGKILL);
    checked = dlock_check(sys); /* also asks the dead node, whose connection ends here */
    assert_true(checked == DLOCK_OK || checked == DLOCK_IO);
    assert_status(UNKNOWN, dlock_release(sys, &lease));
    for (size_t i = taken_count; i < 4; i++)
        assert_int_equal(0, servers_ask(i, "EXISTS %s", name));
    rig_reset();
}

void a_release_by_too_few_nodes_is_not_a_loss(const char *variant)
{
    release_beside_a_dead_node(variant, SERVERS_MAX - QUORUM_NODES);
}

void a_release_by_all_nodes_but_one_is_not_a_loss(const char *variant)
{
    release_beside_a_dead_node(variant, 0);
}

/* While one node is dead, or held by another owner, the lock cannot be acquired, and the attempt
 * leaves nothing on the other nodes. */
void needs_every_node(const char *variant)
{
    static const char theirs[] = "8743c9c0-0795-4907-87fd-6c719a6b4586:52";
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    struct rig_pair pair;
    dlock_lease lease;

    servers_start(&opts);
    pair = rig_open_pair(&opts);
    for (size_t which = 0; which < SERVERS_MAX; which++) {
        servers_ask(which, "HSET %s %s 1", name, theirs);
        assert_status(BUSY, rig_try(pair.a, name));
        assert_int_equal(1, servers_count_keys(name));
        servers_ask(which, "DEL %s", name);
    }
    assert_status(OK, dlock_acquire(pair.a, name, 0, &lease));
    assert_int_equal(SERVERS_MAX, servers_count_keys(name));
    /* All servers but one forget the lock, and still no other owner gets it. */
    for (size_t which = 0; which + 1 < SERVERS_MAX; which++)
        servers_ask(which, "DEL %s", name);
    assert_status(BUSY, rig_try(pair.b, name));
    assert_status(LOST, dlock_release(pair.a, &lease));
    assert_int_equal(0, servers_count_keys(name));
    servers_signal(3, 1, SIGKILL);
    assert_true(dlock_is_failure(rig_try(pair.a, name)));
    for (size_t which = 0; which < 3; which++)
        assert_int_equal(0, servers_ask(which, "EXISTS %s", name));
    assert_status(IO, dlock_check(pair.a));
    servers_restart(3);
    assert_comes(rig_try(pair.a, name) == DLOCK_OK);
}

/* Two nodes grant the attempt, the others belong to another owner. The answer of one of these is
 * delayed until a node that has granted hangs, so that node does not answer the release. */
void a_grant_that_is_not_taken_back_is_unknown(const char *variant)
{
    static const char theirs[] = "8743c9c0-0795-4907-87fd-6c719a6b4586:52";
    dlock_options opts = rig_options(variant);
    const char *name = rig_name();
    const char *take = rig_is(variant, "multi") ? "HSET %s %s 1" : "SET %s %s";
    struct rig_helper *helper;
    dlock_system *sys;

    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = STRETCHED(1000);
    servers_start(&opts);
    sys = rig_open(&opts);
    for (size_t i = 1; i < SERVERS_MAX - 1; i++)
        servers_tell(i, take, name, theirs);
    servers_tell(1, "CLIENT PAUSE %d WRITE", PATIENCE_MS);
    helper = rig_helper_start(sys, name, 0);
    assert_comes(servers_ask(0, "EXISTS %s", name) == 1);
    servers_tell(0, "PING"); /* after its answer, that to the attempt has left too */
    servers_signal(0, 1, SIGSTOP);
    servers_tell(1, "CLIENT UNPAUSE");
    assert_status(UNKNOWN, rig_helper_acquired(helper));
    servers_signal(0, 1, SIGCONT);
    assert_comes(servers_ask(0, "EXISTS %s", name) == 0);
}

/* A call of the law below, and how many calls have taken a whole timeout of a node. */
#define assert_hung_call(want, call)                                                      \
    do {                                                                                  \
        int64_t call_begun_ms_ = rig_now_ms();                                            \
        assert_status_provided(is_steady(HUNG_TIMEOUT_MS), want, call);                   \
        waited_count += rig_now_ms() - call_begun_ms_ >= HUNG_TIMEOUT_MS;                 \
    } while (0)

/* A node hangs. Each of the two systems leaves it alone after it has waited for it, for 50 ms at
 * first and for half a second in the end, so the calls that wait are counted beside the time that
 * all others took. If the library never asked the node again, the node would not hold the lock in
 * the end. */
static void use_with_a_hung_node(dlock_options *opts)
{
    const char *name = rig_name();
    struct rig_pair pair;
    int64_t waited_count = 0, begun_ms, others_ms;
    dlock_lease lease;

    opts->redlock_node_timeout_ms = HUNG_TIMEOUT_MS;
    servers_start(opts);
    premise_watch_pace();
    pair = rig_open_pair(opts);
    servers_signal(4, 1, SIGSTOP);
    begun_ms = rig_now_ms();
    for (int i = 0; i < HUNG_ROUNDS; i++) {
        assert_hung_call(OK, dlock_acquire(pair.a, name, 0, &lease));
        assert_hung_call(BUSY, rig_try(pair.b, name));
        assert_hung_call(OK, dlock_release(pair.a, &lease));
    }
    others_ms = rig_now_ms() - begun_ms - waited_count * HUNG_TIMEOUT_MS;
    assert_provided(is_steady(HUNG_TIMEOUT_MS),
                    waited_count <= HUNG_WAITS + 2 * others_ms / HUNG_PAUSE_MS);
    servers_signal(4, 1, SIGCONT);
    assert_comes(servers_count_keys(name) == 0);
    assert_comes(dlock_acquire(pair.a, name, 0, &lease) == DLOCK_OK &&
                 (servers_count_keys(name) == SERVERS_MAX ||
                  (dlock_release(pair.a, &lease), false)));
    assert_status_provided(is_steady(HUNG_TIMEOUT_MS), OK,
                           dlock_release(pair.a, &lease));
    assert_provided(is_steady(HUNG_TIMEOUT_MS), servers_count_keys(name) == 0);
    rig_reset();
}

void survives_a_hung_node(const char *variant)
{
    dlock_options opts = rig_options(variant);

    use_with_a_hung_node(&opts);
    opts = rig_options(variant);
    opts.redlock_sequential = true;
    use_with_a_hung_node(&opts);
}
