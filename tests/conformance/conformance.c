/* SPDX-License-Identifier: MIT */
/* conformance.c -- every variant against every law.
 *
 *     conformance                      run all, TAP on standard output
 *     conformance --list               print "variant: law" lines
 *     conformance --only GLOB          run those whose line matches
 *
 * A new variant is tested by being in variants.def. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/fault.h"
#include "lock/options.h"
#include "tests/conformance/laws.h"

enum { CASES_MAX = 1000, CASE_NAME_SIZE = 96, CASE_LIMIT_S = 60 };

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
#define REDIS LAW_REDIS
#define POSTGRES LAW_POSTGRES

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
    {"counts the levels of its owner", REENTRANT | REDIS, counts_levels,
     refuses_its_own_owner, LOCAL},
    {"notices that outer levels are lost", REENTRANT | REDIS, notices_lost_levels, NULL,
     0},
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
    {"cleans up after itself", ATOMIC | OWNED | REDIS, cleans_up_after_itself, NULL, 0},
    {"fails at once while its store is dead", REDIS,
     fails_fast_when_the_store_is_dead, NULL, 0},
    {"leaves nothing of many names", REDIS, leaves_nothing_of_many_names, NULL, 0},
    {"needs a majority, whichever nodes", QUORUM, needs_a_majority, NULL, 0},
    {"survives a minority of dead nodes", QUORUM, survives_dead_nodes,
     needs_every_node, LAW_NODES},
    {"survives a hung node", QUORUM, survives_a_hung_node, NULL, 0},
    {"its fence grows with every holder", FENCED, fence_grows_with_every_holder,
     has_no_fence, 0},
    {"its fence stays on re-entry", FENCED | REENTRANT, fence_stays_on_re_entry, NULL,
     0},
    {"serves in the order of arrival", FAIR | REDIS, serves_in_order_of_arrival, NULL, 0},
    {"passes over a dead waiter, without asking all the time", FAIR | REDIS,
     passes_a_dead_waiter, NULL, 0},
    {"leaves the queue with its timeout", FAIR | REDIS, leaves_the_queue, NULL, 0},
    {"has its shape in the store", REDIS, has_its_shape_in_the_store, NULL, 0},
    {"shares its lock with reentrant", REENTRANT | LAW_SINGLE | REDIS, shares_with_reentrant,
     NULL, 0},
    {"is a Redisson lock on the wire", REENTRANT | PUSH | REDIS, is_a_redisson_lock, NULL,
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
    {"serves waiters in the order they came", FAIR, serves_in_arrival_order, NULL, 0},
    {"lets nobody pass a waiter", FAIR, lets_nobody_pass_a_waiter, NULL, 0},
    {"a dead waiter keeps nobody out", FAIR, a_dead_waiter_keeps_nobody, NULL, 0},
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

static void run_case(void **state)
{
    const struct case_state *c = *state;

    alarm(CASE_LIMIT_S); /* a hang ends the program: the runner sees it */
    c->run(c->variant);
    alarm(0);
}

static unsigned store_of(const char *variant)
{
    const char *store = dlock_variant_find(variant)->store;

    if (strncmp(store, "redis", 5) == 0)
        return LAW_REDIS;
    return strcmp(store, "postgresql") == 0 ? LAW_POSTGRES : 0;
}

/* What the law has to say of the variant; NULL: nothing. */
static law_fn *choose(const struct law *law, const char *variant)
{
    unsigned store = store_of(variant);
    unsigned other_stores = (LAW_REDIS | LAW_POSTGRES) & ~store;
    unsigned caps = rig_caps(variant) | store |
                    (rig_is_watched(variant) ? LAW_WATCHED : 0) |
                    (rig_is(variant, "getset") ? 0 : LAW_TIMELESS) |
                    (rig_uses_nodes(variant) ? LAW_NODES : LAW_SINGLE);

    if (store != 0 && (law->needs & other_stores))
        return NULL;
    if (store == 0 && (law->needs & LAW_POSTGRES))
        return NULL;
    if ((caps & law->needs) == law->needs)
        return law->claimed;
    return (caps & law->absent_needs) == law->absent_needs ? law->absent : NULL;
}

static void add_case(const struct law *law, const char *variant, const char *glob)
{
    struct case_state *c = &cases[case_count];
    law_fn *run = choose(law, variant);

    if (run == NULL || case_count == CASES_MAX)
        return;
    snprintf(c->name, sizeof(c->name), "%s: %s%s", variant,
             run == law->claimed ? "" : "(not claimed) ", law->name);
    if (glob != NULL && fnmatch(glob, c->name, 0) != 0)
        return;
    c->variant = variant;
    c->run = run;
    tests[case_count].name = c->name;
    tests[case_count].test_func = run_case;
    tests[case_count].teardown_func = reset;
    tests[case_count].initial_state = c;
    case_count++;
}

static int usage(void)
{
    fputs("usage: conformance [--list] [--only GLOB]\n", stderr);
    return 64;
}

int main(int argc, char **argv)
{
    const char *glob = NULL;
    bool list = false;

    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return child_main(argc, argv);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            glob = argv[++i];
        else
            return usage();
    }
    for (size_t v = 0; v < dlock_variant_count(); v++)
        for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); i++)
            add_case(&laws[i], dlock_variant_at(v)->name, glob);
    for (size_t i = 0; list && i < case_count; i++)
        puts(cases[i].name);
    if (list)
        return 0;
    if (getenv("SECKILL_REDIS_URL") == NULL || getenv("SECKILL_REDLOCK_URLS") == NULL ||
        getenv("SECKILL_DATABASE_URL") == NULL ||
        getenv("SECKILL_LAB_DATABASE_URL") == NULL) {
        puts("Bail out! the environment of a lab is not set: . .lab/env");
        return 69;
    }
    /* Most laws hold a lock for longer than a short fixed lease. */
    dlock_options_lift_limits(true);
    dlock_fault_allow();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return _cmocka_run_group_tests("conformance", tests, case_count, NULL, NULL) == 0
               ? 0
               : 1;
}
