/* SPDX-License-Identifier: MIT */
/* laws.h -- every law that a variant is held to.
 *
 * A law speaks about caps.  A variant that claims all of them has to keep it; for one
 * that does not, the absence is shown where it can be shown. */
#ifndef CONFORMANCE_LAWS_H
#define CONFORMANCE_LAWS_H

#include "tests/conformance/rig.h"
#include "tests/conformance/servers.h"

enum {
    /* Beside the public caps. */
    LAW_WATCHED = 1 << 30,  /* the watchdog renews this variant's leases  */
    LAW_NODES = 1 << 28,    /* it locks on several servers                */
    LAW_SINGLE = 1 << 27,   /* it locks on one, or on none                */
    LAW_TIMELESS = 1 << 29, /* the clients' wall clocks do not matter     */
    /* Where its locks are kept, for laws that look there.  A law for one kind of store
     * says nothing, not even of an absence, about a variant on another kind. */
    LAW_REDIS = 1 << 26,
    LAW_POSTGRES = 1 << 25,
};

typedef void law_fn(const char *variant);

struct law {
    const char *name;
    unsigned needs;   /* caps */
    law_fn *claimed;  /* all of them are claimed */
    law_fn *absent;   /* NULL: nothing to show */
    unsigned absent_needs; /* caps without which there is nothing to show either */
};

/* laws_exclusion.c */
law_fn excludes_a_second_owner, lets_everybody_in;
law_fn lets_one_of_many_in;
law_fn loses_no_update, loses_updates;
law_fn excludes_another_process, lets_another_process_in;
law_fn frees_a_killed_holder, frees_no_holder_killed_between;

/* laws_release.c */
law_fn spends_a_lease_once;
law_fn knows_its_own_leases;
law_fn late_release_touches_nobody, late_release_frees_anybody;
law_fn a_pause_before_the_delete_frees_nobody;

/* laws_lease.c */
law_fn expires, never_expires;
law_fn takes_its_lease;
law_fn renews_by_setting, cannot_renew;
law_fn does_not_ask_the_wall_clock, breaks_by_a_clients_clock;
law_fn watchdog_keeps_it, nobody_keeps_it;
law_fn watchdog_lets_go;
law_fn watchdog_tells_of_a_taken_lock, somebody_tells_of_the_end;
law_fn validity_ends_without_the_store;
law_fn abandoned_frees_itself, abandoned_is_released;

/* laws_waiting.c */
law_fn grants_a_waiter_after_the_release;
law_fn wakes_a_waiter_at_once;
law_fn ends_a_wait_with_timeout, never_waits;
law_fn hands_over_to_every_waiter;

/* laws_reentry.c */
law_fn counts_levels, refuses_its_own_owner;
law_fn notices_lost_levels;
law_fn counts_a_resent_request_once;

/* laws_arguments.c */
law_fn refuses_bad_names;
law_fn refuses_bad_options, refuses_bad_urls;
law_fn is_closed_to_a_forked_child;

/* laws_trouble.c */
law_fn survives_a_script_flush;
law_fn survives_cut_connections;
law_fn survives_a_restart;
law_fn unanswered_is_unknown, unanswered_never_ends;
law_fn cleans_up_after_itself;
law_fn a_late_grant_is_none;
law_fn fails_fast_when_the_store_is_dead;
law_fn leaves_nothing_of_many_names;

/* laws_quorum.c */
law_fn needs_a_majority;
law_fn survives_dead_nodes, needs_every_node;
law_fn survives_a_hung_node;

/* laws_fence.c */
law_fn fence_grows_with_every_holder, has_no_fence;
law_fn fence_stays_on_re_entry;

/* laws_redisson_fair.c */
law_fn serves_in_order_of_arrival;
law_fn passes_a_dead_waiter;
law_fn leaves_the_queue;

/* laws_wire.c */
law_fn has_its_shape_in_the_store;
law_fn is_a_redisson_lock;
law_fn shares_with_reentrant;

/* laws_postgres.c */
law_fn has_its_row_in_the_table;
law_fn counts_levels_in_its_row;
law_fn renews_its_row;
law_fn tells_of_a_deleted_row;
law_fn reaps_rows_nobody_asks_for;
law_fn refuses_bad_database_urls;
law_fn survives_ended_connections;
law_fn a_hung_backend_is_unknown;
law_fn leaves_nothing_in_the_database;
law_fn a_refusal_costs_no_connection;

/* laws_session.c */
law_fn ends_with_its_connection;
law_fn keeps_a_connection_of_its_own;

/* laws_fair.c */
law_fn serves_in_arrival_order;
law_fn lets_nobody_pass_a_waiter;
law_fn a_dead_waiter_keeps_nobody;

/* Run by another process: what `conformance --child` does.  Answers the exit code. */
int child_main(int argc, char **argv);

#endif /* CONFORMANCE_LAWS_H */
