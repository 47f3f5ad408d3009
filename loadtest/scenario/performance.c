/* SPDX-License-Identifier: MIT */
/* performance.c -- a performance from its first process to its verdict.
 *
 * The order matters.  The participants are forked first, while this process has one
 * thread.  The proxies, which are threads, come next.  Then each participant is told the
 * ports of its proxies. */
#include "loadtest/scenario/performance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/clock.h"
#include "db/issue.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/scenario/background/load.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/judge.h"
#include "loadtest/scenario/measure.h"
#include "loadtest/scenario/narration/terminal.h"
#include "loadtest/scenario/participants/actor.h"
#include "loadtest/scenario/participants/process.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/servers/ending.h"
#include "loadtest/scenario/servers/wires.h"
#include "loadtest/scenario/stage.h"

enum { FIRST_USER = 1001 };

/* ---- begin ---- */

static void make_voucher(struct stage *s)
{
    const struct scenario *scenario = s->setup->scenario;
    struct lab_voucher voucher = {.title = scenario->name,
                                  .stock = scenario->stock > 0 ? scenario->stock : 1};
    char url[256], error[512];
    lab_db *db;

    lab_database_url(s->lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error)) {
        s->result->rc = EXIT_UNAVAILABLE;
        stage_fail(s, "%s", error);
    }
    if (!lab_issue_voucher(db, &voucher, &s->voucher)) {
        snprintf(error, sizeof error, "%s", lab_db_error(db));
        lab_db_close(db);
        stage_fail(s, "%s", error);
    }
    lab_db_close(db);
}

static void fill_part(struct stage *s, struct stage_process *p, int first_actor)
{
    const struct scenario *scenario = s->setup->scenario;
    struct actor_part *part = &p->part;

    part->variant = s->setup->lock->name;
    part->record_dir = s->records;
    part->lock = s->lock;
    part->guard = s->setup->guard;
    part->lab = s->lab;
    snprintf(part->name, sizeof part->name, "%s", s->actors[first_actor].name);
    part->stock = scenario->stock > 0 ? scenario->stock : 1;
    part->lease_ms = stage_lease_ms(s);
    part->store_timeout_ms = scenario->store_timeout_ms;
    part->replicas_acknowledge = scenario->replicas_acknowledge;
    part->node_timeout_ms = scenario->node_timeout_ms;
    part->commits_lazily = scenario->commits_lazily;
    part->voucher = s->voucher;
    part->first_user = FIRST_USER + first_actor;
}

static void make_actors(struct stage *s)
{
    static const char *const pair[SCENARIO_ACTORS_MAX] = {"Ann", "Bo"};
    const char *const *names = s->setup->scenario->actors;

    if (names[0] == NULL)
        names = pair;
    for (int i = 0; i < SCENARIO_ACTORS_MAX && names[i] != NULL; i++) {
        struct actor *a = &s->actors[i];
        bool joins = names[i][0] == '+' && i > 0;
        struct stage_process *p = &s->processes[s->process_count - joins];

        *a = (struct actor){.stage = s, .process = p, .index = i,
                            .name = names[i] + joins,
                            .thread = i > 0 && joins ? s->actors[i - 1].thread + 1 : 0};
        s->actor_count++;
        if (joins)
            continue;
        s->process_count++;
        fill_part(s, p, i);
        stage_fork(s, p);
    }
}

static void open_actors(struct stage *s)
{
    struct actor_order order = {.what = ACTOR_OPEN};

    for (int i = 0; i < s->actor_count; i++) {
        struct actor *a = &s->actors[i];
        const struct actor_answer *answer;

        if (a->thread > 0)
            continue;
        stage_open_wires(s, a->process, i);
        if (send(a->process->fd, &a->process->part, sizeof a->process->part,
                 MSG_NOSIGNAL) < 0)
            stage_fail(s, "the process of %s has gone", a->name);
        process_tell(s, a->process, &order);
        answer = process_await(s, a, ACTOR_OPEN);
        if (answer->status != DLOCK_OK) {
            s->result->rc = EXIT_UNAVAILABLE;
            s->result->was_spoilt = true; /* by a machine that is too busy, or for good */
            stage_fail(s, "%s cannot use the lock %s: %s", a->name, s->setup->lock->name,
                       answer->error);
        }
        a->process->is_open = true;
    }
}

/* ---- end ---- */

/* The actors are ended before their wires, so that they can close their connections in order. */
static void clear_stage(struct stage *s)
{
    stage_end_processes(s);
    if (!stage_end_service(s) && s->result->rc == EXIT_VALID)
        s->result->rc = EXIT_BUG;
    if (!stage_disarm_servers(s) && s->result->rc == EXIT_VALID)
        s->result->rc = EXIT_UNAVAILABLE;
    background_end(s);
    for (int i = 0; i < s->process_count; i++)
        stage_close_wires(&s->processes[i]);
    if (!fault_history_close(s->faults) && s->result->rc == EXIT_VALID)
        s->result->rc = EXIT_BUG; /* said on stderr */
    s->faults = NULL;
    stage_tell_lines(s);
}

/* The end of a performance that cannot go on. */
static void abandon(struct stage *s)
{
    clear_stage(s);
    background_free(s);
}

static void begin(struct stage *s, const struct scenario_run *run,
                  const struct performance *p, unsigned number)
{
    pthread_mutex_init(&s->lock_of_lines, NULL);
    s->begin_ns = dlock_clock_ns();
    s->vary = p->vary;
    s->seed = p->vary.is_varied ? p->vary.seed : run->seed;
    s->dir = p->dir;
    s->pages = run->pages;
    s->tell_line = tell_line;
    s->clear = abandon;
    s->is_chinese = run->is_chinese;
    s->shows_wire = run->shows_wire;
    files_join(s->records, s->dir, "locks");
    /* In a cluster the name has the slot of the leader. */
    snprintf(s->lock, sizeof s->lock, "%s:%s:%s:%u",
             s->setup->scenario->topology == LAB_TOPOLOGY_CLUSTER ? "{" LAB_CLUSTER_KEY "}"
                                                                  : "scenario",
             s->setup->scenario->name, s->setup->lock->name, number);
    stage_begin_measuring(s, run->duration_ms, run->seed);
    make_voucher(s);
    make_actors(s);
    background_fork(s);
    s->faults = fault_history_open(s->records);
    if (s->faults == NULL)
        stage_fail(s, "cannot record faults in %s", s->records);
    open_actors(s);
    background_open(s);
}

/* Free the lock that the actors would leave behind in a lab that is kept. */
static void free_lock(struct stage *s)
{
    for (int i = 0; i < s->actor_count; i++) {
        struct actor *a = &s->actors[i];
        struct actor_order order = {.what = ACTOR_FREE, .thread = a->thread};

        if (a->process->is_dead || a->process->is_stopped)
            continue;
        process_tell(s, a->process, &order);
        process_await(s, a, ACTOR_FREE);
        return;
    }
}

/* Acquire and release the lock as earlier holders would, so that the first fence of the story is
 * greater than 1. */
static void hold_earlier(struct stage *s)
{
    static const struct actor_order acquire = {.what = ACTOR_ACQUIRE},
                                     release = {.what = ACTOR_RELEASE};
    struct actor *first = &s->actors[0];

    if (!stage_has(s, DLOCK_CAP_FENCED))
        return;
    for (int i = 0; i < s->setup->scenario->earlier_fences; i++)
        stage_need_in_time(s,
                           actor_act(first, &acquire)->status == DLOCK_OK &&
                               actor_act(first, &release)->status == DLOCK_OK,
                           "the lock was to be had before");
}

static void set_playing(struct stage *s, bool is_playing)
{
    pthread_mutex_lock(&s->lock_of_lines);
    s->is_playing = is_playing;
    if (is_playing)
        s->zero_ns = dlock_clock_ns();
    pthread_mutex_unlock(&s->lock_of_lines);
}

enum exit_code stage_perform(const struct scenario_run *run,
                             const struct performance *p, struct lab *lab,
                             unsigned number)
{
    struct stage *s = memory_need(calloc(1, sizeof *s));
    struct scenario_result *result = p->result;
    enum exit_code rc;

    s->setup = p->setup;
    s->result = result;
    s->lab = lab;
    begin(s, run, p, number);
    hold_earlier(s);
    tell_opening(stdout, s);
    set_playing(s, true);
    s->setup->scenario->play(s);
    set_playing(s, false);
    free_lock(s);
    clear_stage(s);
    if (result->rc == EXIT_VALID)
        stage_judge(s);
    result->has_happened = result->rc == EXIT_VALID || result->rc == EXIT_INVALID ||
                           result->tally.is_counted;
    result->took_ns = dlock_clock_ns() - s->begin_ns;
    tell_ending(stdout, s);
    if (!s->pages->write_part(s))
        result->rc = EXIT_BUG;
    rc = result->rc;
    background_free(s);
    stage_free(s);
    return rc;
}
