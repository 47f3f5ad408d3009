/* SPDX-License-Identifier: MIT */
/* conformance.c -- every variant against every law.
 *
 *     conformance                      run all, TAP on standard output
 *     conformance --list               print "variant: law" lines
 *     conformance --only GLOB          run those whose line matches
 *     conformance --shard K/N          of these every Nth, from the Kth on: the N runs
 *                                      may go on at once, and are the whole together
 *     conformance --wrong              run variants that lie: a law has to catch each
 *     conformance --wrong NAME         run all laws of that one, to see which do
 *
 * A new variant is tested by being in variants.def. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/fault.h"
#include "lock/options.h"
#include "tests/conformance/known_bugs.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/wrong.h"

enum {
    CASES_MAX = 3000,
    CASE_NAME_SIZE = 200,
    CASE_LIMIT_S = 200,
    SHORT_PATIENCE_MS = 2500, /* with a variant that lies states do not come */
};

#define EXCLUSIVE DLOCK_CAP_EXCLUSIVE
#define LOCAL DLOCK_CAP_LOCAL
#define EXPIRES DLOCK_CAP_EXPIRES
#define OWNED DLOCK_CAP_OWNED
#define RENEW DLOCK_CAP_RENEW
#define REENTRANT DLOCK_CAP_REENTRANT
#define PUSH DLOCK_CAP_PUSH
#define QUORUM DLOCK_CAP_QUORUM
#define FENCED DLOCK_CAP_FENCED
#define FAIR DLOCK_CAP_FAIR
#define ATOMIC DLOCK_CAP_ATOMIC
#define SESSION DLOCK_CAP_SESSION
#define SHARED DLOCK_CAP_SHARED
#define REDIS LAW_REDIS
#define POSTGRES LAW_POSTGRES
#define UNSHARED LAW_UNSHARED
#define ZOOKEEPER LAW_ZOOKEEPER

static const struct law laws[] = {
    {"excludes a second owner", LOCAL, excludes_a_second_owner, lets_everybody_in, 0},
    {"lets in one of many who come at once", EXPIRES | REDIS, lets_one_of_many_in, NULL, 0},
    {"loses no update of many threads", LOCAL, loses_no_update, loses_updates, 0},
    {"excludes another process", EXCLUSIVE, excludes_another_process,
     lets_another_process_in, 0},
    {"frees the lock of a holder killed at any moment", ATOMIC, frees_a_killed_holder,
     frees_no_holder_killed_between, EXPIRES},
    {"spends a lease with its release", 0, spends_a_lease_once, NULL, 0},
    {"knows its own leases only", 0, knows_its_own_leases, NULL, 0},
    {"a late release touches nobody", EXPIRES | OWNED, late_release_touches_nobody,
     late_release_frees_anybody, EXPIRES},
    {"a pause before its delete frees nobody", EXPIRES | OWNED,
     a_pause_before_the_delete_frees_nobody, NULL, 0},
    {"expires after its lease", EXPIRES, expires, never_expires, 0},
    {"does not ask the clients' wall clocks", EXPIRES | LAW_TIMELESS,
     does_not_ask_the_wall_clock, breaks_by_a_clients_clock, EXPIRES},
    {"takes the lease that it is given", EXPIRES | REDIS, takes_its_lease, NULL, 0},
    {"renewing sets the lease anew", RENEW | REDIS, renews_by_setting, cannot_renew, 0},
    {"the watchdog keeps the lock", LAW_WATCHED, watchdog_keeps_it, nobody_keeps_it,
     EXPIRES},
    {"the watchdog lets go with the release", LAW_WATCHED | REDIS, watchdog_lets_go,
     NULL, 0},
    {"the holder is told of a loss", LAW_WATCHED | REDIS, watchdog_tells_of_a_taken_lock,
     somebody_tells_of_the_end, EXPIRES},
    {"validity ends without the store", EXPIRES | REDIS, validity_ends_without_the_store, NULL,
     0},
    {"an abandoned lock is free after its lease, and not renewed", EXPIRES,
     abandoned_frees_itself, abandoned_is_released, 0},
    {"grants a waiter after the release", LOCAL, grants_a_waiter_after_the_release,
     NULL, 0},
    {"wakes a waiter at once", PUSH, wakes_a_waiter_at_once, NULL, 0},
    {"hands over to every waiter", LOCAL, hands_over_to_every_waiter, NULL, 0},
    {"ends a wait with timeout", LOCAL, ends_a_wait_with_timeout, never_waits, 0},
    {"a cancelled wait ends and leaves nothing", LOCAL, a_cancelled_wait_leaves_nothing,
     NULL, 0},
    {"a cancel that was fired asks nobody", 0, a_fired_cancel_asks_nobody, NULL, 0},
    {"a grant after the cancel is given back", REDIS,
     a_grant_after_the_cancel_is_given_back, NULL, 0},
    {"an explicit lease is not renewed", EXPIRES, an_explicit_lease_is_its_own,
     has_no_lease_to_give, 0},
    {"an inner level never shortens the lease", EXPIRES | REENTRANT,
     an_inner_level_never_shortens, NULL, 0},
    {"is renewed while a level wants it", LAW_WATCHED | REENTRANT,
     is_renewed_while_a_level_wants_it, NULL, 0},
    {"refuses bad requests", 0, refuses_bad_requests, NULL, 0},
    {"lets readers in together", SHARED, readers_read_together, knows_no_readers, 0},
    {"keeps writers and readers apart", SHARED, writer_and_readers_exclude_each_other,
     NULL, 0},
    {"another process reads along", SHARED, another_process_reads_along, NULL, 0},
    {"the last reader wakes a writer", SHARED | PUSH, last_reader_wakes_a_writer, NULL,
     0},
    {"the writer wakes all readers", SHARED | PUSH, writer_wakes_all_readers, NULL, 0},
    {"a writer becomes a reader and wakes readers", SHARED | REENTRANT | PUSH,
     writer_becomes_a_reader, NULL, 0},
    {"a writer who became a reader is renewed", SHARED | REENTRANT | LAW_WATCHED,
     downgraded_is_renewed, NULL, 0},
    {"a reader becomes no writer", SHARED | REENTRANT, reader_becomes_no_writer, NULL, 0},
    {"readers and writers do as their model", SHARED | REENTRANT | REDIS,
     readers_and_writers_do_as_their_model, NULL, 0},
    {"an abandoned writer who reads does not come back", SHARED | REENTRANT,
     an_abandoned_writer_is_not_entered_again, NULL, 0},
    {"an unanswered release of a reader meets no new one", SHARED | REENTRANT | REDIS,
     an_unanswered_release_meets_no_new_reader, NULL, 0},
    {"counts the levels of a reader", SHARED | REENTRANT, counts_levels_of_a_reader,
     NULL, 0},
    {"readers end one by one", SHARED | EXPIRES, readers_end_one_by_one, NULL, 0},
    {"a reader renews its own hold only", SHARED | LAW_WATCHED | REDIS,
     reader_renews_its_own, NULL, 0},
    {"shows its readers and frees them by force", SHARED | REDIS, shows_and_frees_its_readers,
     NULL, 0},
    {"counts a resent reader once", SHARED | REENTRANT | REDIS,
     counts_a_resent_reader_once, NULL, 0},
    {"is a Redisson read/write lock on the wire", SHARED | REENTRANT | REDIS,
     is_a_redisson_rwlock, NULL, 0},
    {"has the three calls", LOCAL, has_the_three_calls, NULL, 0},
    {"retry none never waits", LOCAL, retry_none_never_waits, NULL, 0},
    {"a limit of tries ends the wait", LOCAL, a_limit_of_tries_ends_the_wait, NULL, 0},
    {"retries until it is free", LOCAL, retries_until_it_is_free, NULL, 0},
    {"a slow policy keeps its place", FAIR, a_slow_policy_keeps_its_place, NULL, 0},
    {"is seen from outside", LOCAL, is_seen_from_outside, is_never_seen, 0},
    {"shows a holder with another name on each server", REENTRANT | LAW_NODES | REDIS,
     shows_owners_of_each_server, NULL, 0},
    {"shows its levels", REENTRANT, shows_its_levels, NULL, 0},
    {"shows its fence", FENCED, shows_its_fence, NULL, 0},
    {"shows who waits", LOCAL, shows_who_waits, NULL, 0},
    {"is freed by force", LOCAL, is_freed_by_force, NULL, 0},
    {"forcing tells a waiter", LOCAL, forcing_tells_a_waiter, NULL, 0},
    {"counts what it does", LOCAL, counts_what_it_does, NULL, 0},
    {"counts wake-ups", PUSH, counts_wake_ups, NULL, 0},
    {"tells of losses by a descriptor", EXPIRES, tells_of_losses_by_a_descriptor, NULL,
     0},
    {"counts the levels of its owner", REENTRANT | REDIS, counts_levels,
     refuses_its_own_owner, LOCAL},
    {"notices that outer levels are lost", REENTRANT | REDIS, notices_lost_levels, NULL,
     0},
    {"grants no level of a hold that is lost", REENTRANT | REDIS | LAW_SINGLE,
     grants_no_level_of_a_lost_hold, NULL, 0},
    {"counts a resent request once", REENTRANT | REDIS, counts_a_resent_request_once,
     NULL, 0},
    {"refuses bad names", 0, refuses_bad_names, NULL, 0},
    {"refuses bad options", 0, refuses_bad_options, NULL, 0},
    {"refuses bad URLs", REDIS, refuses_bad_urls, NULL, 0},
    {"is closed to a forked child", 0, is_closed_to_a_forked_child, NULL, 0},
    {"survives SCRIPT FLUSH", REDIS, survives_a_script_flush, NULL, 0},
    {"survives cut connections", REDIS, survives_cut_connections, NULL, 0},
    {"survives a restart of its store", REDIS, survives_a_restart, NULL, 0},
    {"an unanswered acquire is unknown and leaves nothing", ATOMIC | REDIS,
     unanswered_is_unknown, unanswered_never_ends, EXPIRES},
    {"a grant after its lease is none", REDIS, a_late_grant_is_none, NULL, 0},
    {"a slow answer takes from its lease", EXPIRES | REDIS, a_slow_answer_costs_lease,
     NULL, 0},
    {"cleans up after itself", ATOMIC | OWNED | REDIS, cleans_up_after_itself, NULL, 0},
    {"fails at once while its store is dead", REDIS,
     fails_fast_when_the_store_is_dead, NULL, 0},
    {"leaves nothing of many names", REDIS, leaves_nothing_of_many_names, NULL, 0},
    {"its threads share one connection", REDIS, shares_one_connection, NULL, 0},
    {"needs a majority, whichever nodes", QUORUM, needs_a_majority, NULL, 0},
    {"survives a minority of dead nodes", QUORUM, survives_dead_nodes,
     needs_every_node, LAW_NODES},
    {"survives a hung node", QUORUM, survives_a_hung_node, NULL, 0},
    {"its fence grows with every holder", FENCED, fence_grows_with_every_holder,
     has_no_fence, 0},
    {"its fence outlives the data", FENCED | REDIS, fence_outlives_the_data, NULL, 0},
    {"its fence outlives a restart", FENCED | REDIS, fence_outlives_a_restart, NULL, 0},
    {"its fence needs an epoch", FENCED | REDIS, fence_needs_its_epoch, NULL, 0},
    {"its fence needs it once", FENCED | REDIS, fence_needs_no_epoch_again, NULL, 0},
    {"its fence takes no old epoch", FENCED | REDIS, fence_takes_no_old_epoch, NULL, 0},
    {"its fence is begun once", FENCED | REDIS, fence_agrees_when_many_begin, NULL, 0},
    {"its fence meets Redisson's", FENCED | REDIS, fence_goes_on_with_redissons, NULL, 0},
    {"its fence stays on re-entry", FENCED | REENTRANT, fence_stays_on_re_entry, NULL,
     0},
    {"serves in the order of arrival", FAIR | REDIS, serves_in_order_of_arrival, NULL, 0},
    {"passes over a dead waiter, without asking all the time", FAIR | REDIS,
     passes_a_dead_waiter, NULL, 0},
    {"leaves the queue with its timeout", FAIR | REDIS, leaves_the_queue, NULL, 0},
    {"keeps its place behind a waiter of Redisson's", FAIR | REDIS,
     keeps_its_place_behind_redisson, NULL, 0},
    {"asks no more of a long queue", FAIR | REDIS, asks_no_more_of_a_long_queue, NULL, 0},
    {"has its shape in the store", REDIS, has_its_shape_in_the_store, NULL, 0},
    {"shares its lock with reentrant", REENTRANT | LAW_SINGLE | REDIS | UNSHARED, shares_with_reentrant,
     NULL, 0},
    {"is a Redisson lock on the wire", REENTRANT | PUSH | REDIS | UNSHARED, is_a_redisson_lock, NULL,
     0},
    {"has its row in the table", REENTRANT | POSTGRES, has_its_row_in_the_table, NULL,
     0},
    {"counts levels in its row", REENTRANT | POSTGRES, counts_levels_in_its_row,
     refuses_its_own_owner, LOCAL},
    {"renews its row", RENEW | POSTGRES, renews_its_row, NULL, 0},
    {"tells of a deleted row", LAW_WATCHED | POSTGRES, tells_of_a_deleted_row, NULL, 0},
    {"reaps rows that nobody asks for", EXPIRES | POSTGRES, reaps_rows_nobody_asks_for,
     NULL, 0},
    {"refuses bad database URLs", POSTGRES, refuses_bad_database_urls, NULL, 0},
    {"survives ended connections", POSTGRES, survives_ended_connections, NULL, 0},
    {"a hung backend is unknown", POSTGRES, a_hung_backend_is_unknown, NULL, 0},
    {"leaves nothing in the database", POSTGRES, leaves_nothing_in_the_database, NULL,
     0},
    {"a refusal costs no connection", POSTGRES, a_refusal_costs_no_connection, NULL, 0},
    {"frees the lock of a killed session", SESSION, frees_a_killed_holder, NULL, 0},
    {"ends with its connection", SESSION | POSTGRES, ends_with_its_connection, NULL, 0},
    {"keeps a connection of its own", SESSION | POSTGRES, keeps_a_connection_of_its_own,
     NULL, 0},
    {"refuses bad URLs of ZooKeeper", ZOOKEEPER, refuses_bad_zookeeper_urls, NULL, 0},
    {"ends with its session, and a new one begins", ZOOKEEPER, ends_with_its_session,
     NULL, 0},
    {"is not valid any more before a silent network frees it", ZOOKEEPER,
     a_silent_network_ends_validity_first, NULL, 0},
    {"survives a cut connection, held and waiting", ZOOKEEPER, survives_a_cut_connection,
     NULL, 0},
    {"a lost reply leaves no second node and no blocked name", ZOOKEEPER,
     a_lost_reply_leaves_no_node, NULL, 0},
    {"a lost reply adopts nobody's place", ZOOKEEPER | FAIR, a_lost_reply_adopts_nobody,
     NULL, 0},
    {"leaves no node of many names", ZOOKEEPER, leaves_no_node_of_many_names, NULL, 0},
    {"frees no other after a removal by hand", ZOOKEEPER, frees_no_other_after_a_removal,
     NULL, 0},
    {"keeps odd names apart", ZOOKEEPER, keeps_odd_names_apart, NULL, 0},
    {"a release wakes one waiter only", ZOOKEEPER | FAIR, wakes_one_by_one, wakes_a_herd,
     LAW_ZOOKEEPER},
    {"a waiter that vanishes costs nobody a place", ZOOKEEPER | FAIR,
     a_vanished_predecessor_costs_no_place, NULL, 0},
    {"writes its level into its node", ZOOKEEPER | REENTRANT, writes_its_level,
     refuses_its_own_owner, LAW_ZOOKEEPER},
    {"serves waiters in the order they came", FAIR, serves_in_arrival_order, NULL, 0},
    {"lets nobody pass a waiter", FAIR, lets_nobody_pass_a_waiter, NULL, 0},
    {"a dead waiter keeps nobody out", FAIR, a_dead_waiter_keeps_nobody, NULL, 0},
    {"64 threads come through the troubles of Redis", ATOMIC | REDIS,
     comes_through_redis_trouble, NULL, 0},
    {"64 threads come through ended backends", POSTGRES, comes_through_ended_backends,
     NULL, 0},
    {"64 threads come through ended sessions", ZOOKEEPER, comes_through_ended_sessions,
     NULL, 0},
    {"its fence grows from process to process", FENCED,
     fence_grows_from_process_to_process, NULL, 0},
    {"its fence does not ask the wall clock", FENCED, fence_does_not_ask_the_wall_clock,
     NULL, 0},
    {"a claim that arrives twice counts once", LOCAL, counts_a_claim_once, NULL, 0},
    {"cleaning up what never was changes nothing", OWNED, cleans_up_nothing_that_is,
     NULL, 0},
    {"renews nothing that has ended", RENEW, renews_nothing_that_ended, NULL, 0},
    {"a late request takes no lease away", RENEW | REENTRANT,
     a_late_request_takes_no_lease_away, NULL, 0},
    {"only the first in its queue may enter", FAIR, only_the_first_may_enter, NULL, 0},
    {"keeps a place however long it waits", FAIR, keeps_a_place, NULL, 0},
    {"different names are different locks", LOCAL, tells_names_apart, NULL, 0},
    {"its lease ends in the store after it ends for its holder", EXPIRES,
     ends_for_its_holder_first, NULL, 0},
    {"inner levels leave the lease as it is", EXPIRES | REENTRANT,
     inner_levels_keep_the_lease, NULL, 0},
    {"a lock won by waiting has the lease that was asked for", EXPIRES,
     a_lock_won_by_waiting_has_its_lease, NULL, 0},
    {"a closed system's lock ends with its lease", EXPIRES,
     a_closed_system_keeps_its_promise, NULL, 0},
    {"renews after a reconnect", LAW_WATCHED | REDIS, renews_after_a_reconnect, NULL,
     0},
    {"a failed renewal is tried again in time", LAW_WATCHED | REDIS,
     tries_a_renewal_again, NULL, 0},
    {"renews the next lock after a restart", LAW_WATCHED | REDIS,
     renews_the_next_after_a_restart, NULL, 0},
    {"renews all of many", LAW_WATCHED, renews_all_of_many, NULL, 0},
    {"a thread that ended is not renewed", LAW_WATCHED,
     a_thread_that_ended_is_not_renewed, NULL, 0},
    {"a thread may release as it ends", LAW_WATCHED, a_thread_may_release_as_it_ends,
     NULL, 0},
    {"renews when an inner level is released", LAW_WATCHED | REENTRANT,
     renews_after_an_inner_release, NULL, 0},
    {"a lost message costs a look, not a lease", PUSH | REDIS,
     a_lost_message_costs_a_look, NULL, 0},
    {"waits for many names at once", PUSH | REDIS, waits_for_many_names, NULL, 0},
    {"an error of its store is no answer", REDIS, an_error_is_no_answer, NULL, 0},
    {"gives up waiting without a trace", LOCAL, gives_up_without_a_trace, NULL, 0},
    {"any history has one inside", LOCAL, any_history_has_one_inside, NULL, 0},
};

static struct case_state {
    const char *variant;
    law_fn *run;
    char name[CASE_NAME_SIZE];
} cases[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];
static size_t case_count;

static int reset(void **state)
{
    (void)state;
    rig_reset();
    return 0;
}

static void close_all(void)
{
    alarm(CASE_LIMIT_S);
    rig_reset();
}

static void run_case(void **state)
{
    const struct case_state *c = *state;

    alarm(CASE_LIMIT_S); /* a hang ends the program: the runner sees it */
    premise_run(c->name, c->run, c->variant, close_all);
    alarm(0);
}

static unsigned store_of(const char *variant)
{
    const char *store = dlock_variant_find(variant)->store;

    if (strncmp(store, "redis", 5) == 0)
        return LAW_REDIS;
    return strcmp(store, "postgresql") == 0  ? LAW_POSTGRES
           : strcmp(store, "zookeeper") == 0 ? LAW_ZOOKEEPER
                                             : 0;
}

/* What the law has to say of the variant; NULL: nothing. */
static law_fn *choose(const struct law *law, const char *variant)
{
    unsigned store = store_of(variant);
    unsigned other_stores = LAW_STORES & ~store;
    unsigned caps = rig_caps(variant) | store |
                    (rig_is_watched(variant) ? LAW_WATCHED : 0) |
                    (rig_is(variant, "getset") ? 0 : LAW_TIMELESS) |
                    (rig_uses_nodes(variant) ? LAW_NODES : LAW_SINGLE) |
                    (rig_caps(variant) & SHARED ? 0 : LAW_UNSHARED);

    if (store != 0 && (law->needs & other_stores))
        return NULL;
    if (store == 0 && (law->needs & (LAW_POSTGRES | LAW_ZOOKEEPER)))
        return NULL;
    if ((caps & law->needs) == law->needs)
        return law->claimed;
    return (caps & law->absent_needs) == law->absent_needs ? law->absent : NULL;
}

static bool is_law(const char *name)
{
    for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++)
        if (strcmp(laws[i].name, name) == 0)
            return true;
    return false;
}

static void add_case(const struct law *law, const char *variant, const char *glob)
{
    struct case_state *c = &cases[case_count];
    law_fn *run = choose(law, variant);
    size_t len;
    bool fits;

    if (run == NULL || case_count == CASES_MAX)
        return;
    len = (size_t)snprintf(c->name, sizeof(c->name), "%s: %s%s", variant,
                           run == law->claimed ? "" : "(not claimed) ", law->name);
    fits = glob == NULL || fnmatch(glob, c->name, 0) == 0;
    known_bugs_append(c->name + len, sizeof(c->name) - len,
                      c->name + strlen(variant) + 2);
    if (!fits && fnmatch(glob, c->name, 0) != 0)
        return;
    c->variant = variant;
    c->run = run;
    tests[case_count].name = c->name;
    tests[case_count].test_func = run_case;
    tests[case_count].teardown_func = reset;
    tests[case_count].initial_state = c;
    case_count++;
}

static void add_cases(const char *glob)
{
    for (size_t v = 0; v < dlock_variant_count(); v++)
        for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++)
            add_case(&laws[i], dlock_variant_at(v)->name, glob);
}

/* Neighbours go to different shards, so that each has some of every variant's. */
static void keep_shard(unsigned shard, unsigned shard_count)
{
    size_t kept = 0;

    for (size_t i = shard - 1; i < case_count; i += shard_count)
        tests[kept++] = tests[i];
    case_count = kept;
}

static int usage(void)
{
    fputs("usage: conformance [--list] [--only GLOB] [--shard K/N] [--wrong [NAME]]\n",
          stderr);
    return 64;
}

/* What the command line asks for. */
struct request {
    const char *glob;
    bool list;
    bool wrong;
    const char *lie; /* of all those that are wrong */
    unsigned shard;  /* of so many: */
    unsigned shard_count;
};

static bool read_shard(const char *text, struct request *out)
{
    int used = 0;

    return sscanf(text, "%u/%u%n", &out->shard, &out->shard_count, &used) == 2 &&
           text[used] == '\0' && out->shard >= 1 && out->shard <= out->shard_count;
}

static bool read_request(int argc, char **argv, struct request *out)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            out->list = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            out->glob = argv[++i];
        else if (strcmp(argv[i], "--shard") == 0 && i + 1 < argc &&
                 read_shard(argv[i + 1], out))
            i++;
        else if (strcmp(argv[i], "--wrong") == 0 && !out->wrong)
            out->wrong = true;
        else if (out->wrong && out->lie == NULL)
            out->lie = argv[i];
        else
            return false;
    }
    return true;
}

/* This process lies, or is compared with one that does: see wrong.h.  False: there is
 * no such lie. */
static bool prepare_lie(struct request *request)
{
    static char glob[CASE_NAME_SIZE];
    const char *base;

    if (request->lie != NULL)
        setenv(WRONG_ENV, request->lie, 1);
    if (getenv(WRONG_ENV) == NULL)
        return true;
    if (getenv(WRONG_ENV)[0] == '\0')
        return true;
    rig_patience_ms = SHORT_PATIENCE_MS;
    base = wrong_enable(getenv(WRONG_ENV));
    if (base == NULL)
        return false;
    snprintf(glob, sizeof(glob), "%s: *", base);
    if (request->glob == NULL)
        request->glob = glob;
    return true;
}

static int list_cases(const struct request *request)
{
    if (request->wrong) {
        wrong_list();
        return 0;
    }
    for (size_t i = 0; i < case_count; i++)
        puts(tests[i].name);
    return 0;
}

int main(int argc, char **argv)
{
    struct request request = {.shard = 1, .shard_count = 1};
    bool is_child = argc > 1 && strcmp(argv[1], "--child") == 0;

    if (!is_child && !read_request(argc, argv, &request))
        return usage();
    if (!prepare_lie(&request))
        return usage();
    if (is_child)
        return child_main(argc, argv);
    known_bugs_check(is_law);
    add_cases(request.glob);
    keep_shard(request.shard, request.shard_count);
    if (request.list)
        return list_cases(&request);
    if (getenv("SECKILL_REDIS_URL") == NULL || getenv("SECKILL_REDLOCK_URLS") == NULL ||
        getenv("SECKILL_DATABASE_URL") == NULL ||
        getenv("SECKILL_LAB_DATABASE_URL") == NULL ||
        getenv("SECKILL_ZOOKEEPER_URL") == NULL) {
        puts("Bail out! the environment of a lab with ZooKeeper is not set: . .lab/env");
        return 69;
    }
    if (request.wrong && request.lie == NULL)
        return wrong_run_all();
    /* Most laws hold a lock for longer than a short fixed lease. */
    dlock_options_lift_limits(true);
    dlock_fault_allow();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("conformance", tests, case_count, NULL, NULL) == 0
               ? 0
               : 1;
}
