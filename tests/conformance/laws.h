/* SPDX-License-Identifier: MIT */
/* laws.h -- every law for variants.
 *
 * A law names capabilities. A variant that has all of them has to keep the law. For a variant that
 * lacks one of them, a second test may show that the promise is absent. */
#ifndef CONFORMANCE_LAWS_H
#define CONFORMANCE_LAWS_H

#include <sys/types.h>

#include "tests/conformance/rig.h"
#include "tests/conformance/servers.h"

enum {
    /* Flags beside the public caps. */
    LAW_WATCHED = 1 << 30,  /* the watchdog renews this variant's leases  */
    LAW_NODES = 1 << 28,    /* it locks on several servers                */
    LAW_SINGLE = 1 << 27,   /* it locks on one server, or without a server */
    LAW_TIMELESS = 1 << 29, /* the wall clocks of the clients do not matter */
    /* The store of its locks, for laws that read this store. A law for one kind of store says
     * nothing about a variant on another kind, and shows no absence either. */
    LAW_REDIS = 1 << 26,
    LAW_POSTGRES = 1 << 25,
    LAW_UNSHARED = 1 << 24, /* it is no read/write lock */
    LAW_ZOOKEEPER = 1 << 23,
    LAW_ETCD = 1 << 21,
    LAW_REMOTE = 1 << 22, /* a server keeps its locks */
    LAW_DURABLE = 1 << 20, /* this server keeps its data when it is killed */
    LAW_HANDED = 1 << 19,  /* it may be handed over inside a process */
    LAW_LATER = 1 << 18,   /* it can release without waiting: dlock_release_later() */
    LAW_ONE_WIRE = 1 << 17, /* a cutter before its address cuts it off: it is on no cluster */
    LAW_COPIED = 1 << 16,  /* the laws try its grants on a master with a replica */
    LAW_STORES = LAW_REDIS | LAW_POSTGRES | LAW_ZOOKEEPER | LAW_ETCD,
};

typedef void law_fn(const char *variant);

struct law {
    const char *name;
    unsigned needs;   /* caps */
    law_fn *claimed;  /* the law for a variant that has all of them */
    law_fn *absent;   /* the law for a variant that lacks one; NULL: there is none */
    unsigned absent_needs; /* `absent` concerns only variants that have these caps */
};

/* laws.c */
extern const struct law laws[];
extern const size_t law_count;

/* laws_exclusion.c */
law_fn excludes_a_second_owner, lets_everybody_in;
law_fn lets_one_of_many_in;
law_fn loses_no_update, loses_updates;
law_fn excludes_another_process, lets_another_process_in;
law_fn another_process_reads_along;
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

/* laws_watchdog.c */
law_fn watchdog_keeps_it, nobody_keeps_it;
law_fn watchdog_lets_go;
law_fn watchdog_tells_of_a_taken_lock, somebody_tells_of_the_end;
law_fn validity_ends_without_the_store;
law_fn validity_ends_while_a_renewal_connects;
law_fn a_loss_behind_many_renewals_is_told;
law_fn a_loss_ends_no_other_renewal;
law_fn abandoned_frees_itself, abandoned_is_released;

/* laws_waiting.c */
law_fn grants_a_waiter_after_the_release;
law_fn wakes_a_waiter_at_once;
law_fn ends_a_wait_with_timeout, never_waits;
law_fn hands_over_to_every_waiter;
law_fn gives_up_without_a_trace;

/* laws_cancel.c */
law_fn a_cancelled_wait_leaves_nothing;
law_fn a_fired_cancel_asks_nobody;
law_fn a_grant_after_the_cancel_is_given_back;
law_fn a_cancel_of_a_thread_waits_for_its_call;
law_fn a_cancelled_thread_ruins_no_system;

/* laws_inspect.c */
law_fn is_seen_from_outside, is_never_seen, shows_owners_of_each_server;
law_fn shows_its_levels;
law_fn shows_its_fence;
law_fn shows_who_waits;
law_fn is_freed_by_force;
law_fn frees_no_other_kind;
law_fn forcing_tells_a_waiter;

/* laws_metrics.c */
law_fn counts_what_it_does;
law_fn counts_wake_ups;
law_fn tells_of_losses_by_a_descriptor;

/* laws_request.c */
law_fn an_explicit_lease_is_its_own, has_no_lease_to_give;
law_fn an_inner_level_never_shortens;
law_fn is_renewed_while_a_level_wants_it;
law_fn refuses_bad_requests;
law_fn knows_no_readers;
law_fn has_the_three_calls;

/* laws_retry.c */
law_fn retry_none_never_waits;
law_fn a_limit_of_tries_ends_the_wait;
law_fn retries_until_it_is_free;
law_fn a_slow_policy_keeps_its_place;

/* laws_reentry.c */
law_fn counts_levels, refuses_its_own_owner;
law_fn notices_lost_levels;
law_fn counts_a_resent_request_once;
law_fn grants_no_level_of_a_lost_hold;

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
law_fn a_slow_answer_costs_lease;
law_fn fails_fast_when_the_store_is_dead;
law_fn leaves_nothing_of_many_names;

/* laws_outage.c */
law_fn a_waiter_outlives_an_outage;
law_fn a_wait_that_begins_in_an_outage_is_granted;
law_fn an_outage_ends_no_wait_too_late;
law_fn a_cancel_ends_a_wait_in_an_outage;
law_fn a_release_outlives_an_outage;

/* laws_refusals.c */
law_fn a_refusal_that_passes_is_waited_for;
law_fn a_refusal_without_a_decision_is_waited_for;
law_fn a_refusal_that_lasts_ends_every_call;

/* laws_rights.c */
law_fn names_a_missing_right;
law_fn names_a_missing_right_in_its_database;
law_fn needs_only_its_documented_rights;
law_fn a_refused_message_fails_no_release;

/* laws_zookeeper_odd.c */
law_fn believes_no_odd_place, believes_no_odd_node, reads_a_negative_place;
law_fn believes_no_answer_about_another_node;
law_fn frees_what_it_may_delete_again, names_a_directory_that_it_may_not_make;

/* laws_restart.c */
law_fn a_waiter_outlives_a_restart;
law_fn a_wait_that_begins_without_a_server_is_granted;
law_fn a_release_outlives_a_restart;
law_fn a_release_without_a_server_ends;

/* laws_sharing.c */
law_fn shares_one_connection;

/* laws_quorum.c */
void a_grant_that_is_not_taken_back_is_unknown(const char *variant);
law_fn needs_a_majority;
law_fn survives_dead_nodes, needs_every_node;
law_fn a_release_by_too_few_nodes_is_not_a_loss, a_release_by_all_nodes_but_one_is_not_a_loss;
law_fn survives_a_hung_node;

/* laws_fence.c */
law_fn fence_grows_with_every_holder, has_no_fence;
law_fn fence_grows_from_process_to_process;
law_fn fence_does_not_ask_the_wall_clock;
law_fn fence_stays_on_re_entry;
law_fn fence_outlives_the_data, fence_outlives_a_restart;
law_fn fence_needs_its_epoch, fence_needs_no_epoch_again;
law_fn fence_takes_no_old_epoch;
law_fn fence_agrees_when_many_begin;
law_fn fence_goes_on_with_redissons;

/* laws_shared.c */
law_fn readers_read_together;
law_fn writer_and_readers_exclude_each_other;
law_fn last_reader_wakes_a_writer;
law_fn writer_wakes_all_readers;
law_fn writer_becomes_a_reader;
law_fn downgraded_is_renewed;
law_fn reader_becomes_no_writer;
law_fn counts_levels_of_a_reader;
law_fn readers_end_one_by_one;
law_fn reader_renews_its_own;
law_fn counts_a_resent_reader_once;
law_fn shows_and_frees_its_readers;

/* laws_redisson_rwlock.c */
law_fn is_a_redisson_rwlock;

/* laws_shared_model.c */
law_fn readers_and_writers_do_as_their_model;

/* laws_shared_trouble.c */
law_fn an_abandoned_writer_is_not_entered_again;
law_fn an_unanswered_release_meets_no_new_reader;

/* laws_redisson_fair.c */
law_fn serves_in_order_of_arrival;
law_fn passes_a_dead_waiter;
law_fn names_a_dead_waiter, names_a_living_waiter, is_told_a_turn_for_a_moment;
law_fn leaves_the_queue;
law_fn a_failed_waiter_leaves_the_queue;
law_fn keeps_its_place_behind_redisson;
law_fn knows_redisson_whatever_its_score;
law_fn takes_its_own_for_no_redisson;
law_fn asks_no_more_of_a_long_queue;

/* laws_wire.c */
law_fn has_its_shape_in_the_store;
law_fn is_a_redisson_lock;
law_fn shares_with_reentrant;

/* laws_postgres.c */
law_fn has_its_row_in_the_table;
law_fn counts_levels_in_its_row;
law_fn renews_its_row;
law_fn a_locked_row_ends_no_other_renewal;
law_fn tells_of_a_deleted_row;
law_fn reaps_rows_nobody_asks_for;
law_fn refuses_bad_database_urls;
law_fn survives_ended_connections;
law_fn a_hung_backend_is_unknown;
law_fn leaves_nothing_in_the_database;
law_fn its_server_gives_up_a_silent_client;
law_fn a_strange_answer_ends_no_hold;
law_fn a_refusal_costs_no_connection;

/* laws_zookeeper.c */
law_fn refuses_bad_zookeeper_urls;
law_fn ends_with_its_session;
law_fn a_silent_network_ends_validity_first;
law_fn survives_a_cut_connection;
law_fn a_lost_reply_leaves_no_node;
law_fn a_lost_reply_adopts_nobody;
law_fn leaves_no_node_of_many_names;
law_fn frees_no_other_after_a_removal;
law_fn comes_through_ended_sessions;
law_fn keeps_odd_names_apart;
law_fn writes_its_level;

/* laws_etcd.c */
law_fn refuses_bad_etcd_urls;
law_fn minds_no_other_keys;
law_fn contends_with_the_recipe;
law_fn is_lost_with_its_key;
law_fn enters_with_its_own_key_only;
law_fn is_told_after_a_cut;
law_fn a_lost_answer_leaves_no_key;
law_fn a_failed_release_lets_the_next_in;
law_fn costs_two_requests;
law_fn leaves_no_keys;
law_fn gives_each_key_a_revision;

/* laws_etcd_told.c */
law_fn wakes_only_the_next;
law_fn enters_as_it_is_told;
law_fn a_neighbour_that_gives_up_lets_nobody_in;

/* laws_zookeeper_queue.c */
law_fn wakes_a_herd, wakes_one_by_one;
law_fn a_vanished_predecessor_costs_no_place;

/* laws_session.c */
law_fn a_grant_at_its_end_leaves_no_lock;
law_fn ends_with_its_connection;
law_fn is_told_of_one_end_among_many;
law_fn looks_after_its_session_with_pauses;
law_fn forcing_a_session_that_stays_is_unknown;
law_fn an_unfinished_release_makes_no_attempt_wait;
law_fn keeps_a_connection_of_its_own;

/* laws_fair.c */
law_fn serves_in_arrival_order;
law_fn lets_nobody_pass_a_waiter;
law_fn a_dead_waiter_keeps_nobody;

/* laws_later.c; can the variant release without waiting? */
bool is_left_to_itself(const char *variant);
law_fn is_released_later;
law_fn goes_behind_its_debt;
law_fn is_free_once_it_was_sent;
law_fn gives_all_levels_back_later;
law_fn a_release_that_did_not_arrive_is_repeated;
law_fn a_release_that_is_repeated_meets_no_other_lock;
law_fn an_acquire_pays_the_debts_of_its_name;
law_fn a_debt_ends_with_its_lease;
law_fn a_debt_outlives_a_restart;
law_fn a_debt_outlives_a_pause;
law_fn an_unanswered_acquire_becomes_a_debt;
law_fn a_debt_outlives_a_script_flush;
law_fn a_close_pays_its_debts;
law_fn a_child_owes_nothing;

/* laws_handover.c */
law_fn is_handed_over_so_often, refuses_to_be_handed_over;
law_fn is_handed_over_without_waiting;
law_fn is_not_handed_over_for_long;
law_fn is_not_handed_over_with_little_lease;
law_fn hands_over_what_is_left;
law_fn who_left_the_line_gets_nothing;
law_fn a_loss_ends_the_chain;
law_fn force_ends_the_chain;
law_fn the_line_outlives_a_lost_holder;
law_fn an_abandoned_hold_is_not_handed_over;
law_fn hands_over_after_all_levels;
law_fn a_dead_thread_holds_up_nobody;
law_fn who_stands_outside_does_not_pass;
law_fn handed_histories_have_one_inside;

/* laws_chaos.c */
law_fn comes_through_redis_trouble;
law_fn comes_through_ended_backends;

/* laws_claims.c */
law_fn counts_a_claim_once;
law_fn cleans_up_nothing_that_is;
law_fn renews_nothing_that_ended;
law_fn a_late_request_takes_no_lease_away;

/* laws_queue.c */
law_fn only_the_first_may_enter;
law_fn keeps_a_place;

/* laws_names.c */
law_fn tells_names_apart;

/* laws_validity.c */
law_fn ends_for_its_holder_first;
law_fn inner_levels_keep_the_lease;
law_fn a_lock_won_by_waiting_has_its_lease;
law_fn a_closed_system_keeps_its_promise;

/* laws_renewal.c */
law_fn renews_after_a_reconnect;
law_fn tries_a_renewal_again;
law_fn renews_the_next_after_a_restart;
law_fn renews_all_of_many;
law_fn renews_after_an_inner_release;
law_fn a_thread_that_ended_is_not_renewed;
law_fn a_thread_may_release_as_it_ends;

/* laws_messages.c */
law_fn a_lost_message_costs_a_look;
law_fn waits_for_many_names;

/* laws_replicas.c; the laws try a string and a hash only, since tests/topology/replicas.c tests the
 * other locks. */
bool is_tried_with_a_replica(const char *variant);
law_fn refuses_what_no_replica_can_acknowledge;
law_fn needs_its_replicas;
law_fn waiting_for_replicas_stops_nobody;

/* laws_errors.c */
law_fn an_error_is_no_answer;

/* laws_histories.c */
law_fn any_history_has_one_inside;

/* Let another process acquire and release `name`. Returns the fence that it was given. */
uint64_t fence_of_another_process(const char *variant, const char *name);

/* Start another process, which waits for `name` until it is killed. */
pid_t wait_by_another_process(const char *variant, const char *name);

/* The main function of another process: `conformance --child`. Returns the exit code. */
int child_main(int argc, char **argv);

/* ---- the laws through the asynchronous interface: by_async.c ---- */

/* From now on, send the calls of the laws through the asynchronous interface. */
void by_async_begin(void);

/* Can the law be tested through the asynchronous interface? No, if the variant has no such
 * interface, or if the law is about a property that only threads have. */
bool by_async_applies(const char *variant, const char *law);

#endif /* CONFORMANCE_LAWS_H */
