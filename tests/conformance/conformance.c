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

static const struct law laws[] = {
    {"excludes a second owner", LOCAL, excludes_a_second_owner, lets_everybody_in, 0},
    {"lets in one of many who come at once", EXPIRES, lets_one_of_many_in, NULL, 0},
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
    {"takes the lease that it is given", EXPIRES, takes_its_lease, NULL, 0},
    {"renewing sets the lease anew", RENEW, renews_by_setting, cannot_renew, 0},
    {"the watchdog keeps the lock", LAW_WATCHED, watchdog_keeps_it, nobody_keeps_it,
     EXPIRES},
    {"the watchdog lets go with the release", LAW_WATCHED, watchdog_lets_go, NULL, 0},
    {"the holder is told of a loss", LAW_WATCHED, watchdog_tells_of_a_taken_lock,
     somebody_tells_of_the_end, EXPIRES},
    {"validity ends without the store", EXPIRES, validity_ends_without_the_store, NULL,
     0},
    {"an abandoned lock is free after its lease, and not renewed", EXPIRES,
     abandoned_frees_itself, abandoned_is_released, 0},
    {"grants a waiter after the release", LOCAL, grants_a_waiter_after_the_release,
     NULL, 0},
    {"wakes a waiter at once", PUSH, wakes_a_waiter_at_once, NULL, 0},
    {"hands over to every waiter", LOCAL, hands_over_to_every_waiter, NULL, 0},
    {"ends a wait with timeout", LOCAL, ends_a_wait_with_timeout, never_waits, 0},
    {"counts the levels of its owner", REENTRANT, counts_levels, refuses_its_own_owner,
     LOCAL},
    {"notices that outer levels are lost", REENTRANT, notices_lost_levels, NULL, 0},
    {"counts a resent request once", REENTRANT, counts_a_resent_request_once, NULL, 0},
    {"refuses bad names", 0, refuses_bad_names, NULL, 0},
    {"refuses bad options", 0, refuses_bad_options, NULL, 0},
    {"refuses bad URLs", EXPIRES, refuses_bad_urls, NULL, 0},
    {"is closed to a forked child", 0, is_closed_to_a_forked_child, NULL, 0},
    {"survives SCRIPT FLUSH", EXPIRES, survives_a_script_flush, NULL, 0},
    {"survives cut connections", EXPIRES, survives_cut_connections, NULL, 0},
    {"survives a restart of its store", EXPIRES, survives_a_restart, NULL, 0},
    {"an unanswered acquire is unknown and leaves nothing", ATOMIC,
     unanswered_is_unknown, unanswered_never_ends, EXPIRES},
    {"a grant after its lease is none", EXPIRES, a_late_grant_is_none, NULL, 0},
    {"cleans up after itself", ATOMIC | OWNED, cleans_up_after_itself, NULL, 0},
    {"fails at once while its store is dead", EXPIRES,
     fails_fast_when_the_store_is_dead, NULL, 0},
    {"leaves nothing of many names", EXPIRES, leaves_nothing_of_many_names, NULL, 0},
    {"needs a majority, whichever nodes", QUORUM, needs_a_majority, NULL, 0},
    {"survives a minority of dead nodes", QUORUM, survives_dead_nodes,
     needs_every_node, LAW_NODES},
    {"survives a hung node", QUORUM, survives_a_hung_node, NULL, 0},
    {"its fence grows with every holder", FENCED, fence_grows_with_every_holder,
     has_no_fence, 0},
    {"its fence stays on re-entry", FENCED | REENTRANT, fence_stays_on_re_entry, NULL,
     0},
    {"serves in the order of arrival", FAIR, serves_in_order_of_arrival, NULL, 0},
    {"passes over a dead waiter, without asking all the time", FAIR,
     passes_a_dead_waiter, NULL, 0},
    {"leaves the queue with its timeout", FAIR, leaves_the_queue, NULL, 0},
    {"has its shape in the store", EXPIRES, has_its_shape_in_the_store, NULL, 0},
    {"shares its lock with reentrant", REENTRANT | LAW_SINGLE, shares_with_reentrant,
     NULL, 0},
    {"is a Redisson lock on the wire", REENTRANT | PUSH, is_a_redisson_lock, NULL, 0},
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

/* What the law has to say of the variant; NULL: nothing. */
static law_fn *choose(const struct law *law, const char *variant)
{
    unsigned caps = rig_caps(variant) | (rig_is_watched(variant) ? LAW_WATCHED : 0) |
                    (rig_is(variant, "getset") ? 0 : LAW_TIMELESS) |
                    (rig_uses_nodes(variant) ? LAW_NODES : LAW_SINGLE);

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
    if (getenv("SECKILL_REDIS_URL") == NULL || getenv("SECKILL_REDLOCK_URLS") == NULL) {
        puts("Bail out! SECKILL_REDIS_URL and SECKILL_REDLOCK_URLS are not set");
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
