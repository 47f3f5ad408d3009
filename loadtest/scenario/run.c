/* SPDX-License-Identifier: MIT */
/* run.c -- runs of many performances.  Those without a fault of a server share one lab,
 * several at a time; the others run one after another in labs of their own. */

#include "loadtest/scenario/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/verdict.h"
#include "loadtest/scenario/batch.h"
#include "loadtest/scenario/narration/measurements.h"
#include "loadtest/scenario/narration/report.h"
#include "loadtest/scenario/performance.h"
#include "loadtest/scenario/plan.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/scenario.h"

/* ---- the servers of the scenarios ---- */

enum { JOIN_MS = 20000, PLACE_POLL_MS = 5 };

/* Is the performance one of those that need a lab of their own (`own`), or of those that share a
 * lab? */
static bool place_is_meant(const struct performance *p, bool own)
{
    return scenario_has_own_servers(p->setup->scenario) == own;
}

/* The topologies that all of these performances need together. */
static lab_topologies place_needs(const struct batch *t, bool own)
{
    lab_topologies wanted = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct scenario_setup *setup = t->all[i].setup;

        if (!place_is_meant(&t->all[i], own))
            continue;
        wanted |= setup->scenario->topology != LAB_TOPOLOGY_CORE
                      ? 1u << setup->scenario->topology
                      : lab_lock_needs(setup->lock->name);
    }
    return wanted;
}

/* Does every topology stand, now or soon?  A server that went on joins its peers by itself. */
static bool place_is_whole(const struct lab *lab)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), JOIN_MS);
    char why[LAB_WHY_MAX];

    for (unsigned topology = 0; topology < LAB_TOPOLOGY_COUNT; topology++)
        while (!lab_topology_stands(lab, (enum lab_topology)topology, why))
            if (dlock_clock_ns() >= end_ns || !interrupt_sleep_ms(PLACE_POLL_MS))
                return false;
    return true;
}

/* Prepare the lab for the next performance: keep the lab if all its servers are up and its
 * topologies stand, otherwise make it anew.  False: that failed. */
static bool place_restore(const struct batch *t, struct place *place)
{
    bool was_there;

    if (lab_state_read(&place->lab, place->dir) && lab_is_up(&place->lab) &&
        place_is_whole(&place->lab))
        return true;
    eprintf("seckill scenario: the lab in %s is not as it was; making it anew\n", place->dir);
    return lab_remove(place->dir, &was_there) == EXIT_VALID &&
           lab_keep(&place->lab, place->dir, place_needs(t, true), &was_there) ==
               EXIT_VALID;
}

enum {
    LIMIT_MS = 120000, /* of a story; a measurement has this beside its duration        */
    POLL_MS = 5,
    STORY_JOBS = 3,
    MEASURE_JOBS = 12, /* pauses take time, but no processor                            */
    NAME_SIZE = 160,
};

/* ---- one performance ---- */

/* In the child. */
static void perform(const struct batch *t, const struct performance *p, struct lab *lab,
                    pid_t parent)
{
    unsigned number = t->number + (unsigned)(p - t->all) +
                      100000 * (unsigned)p->result->tries;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_BUG);
    if (t->count > 1 || t->run->listener != NULL) {
        char path[FILES_PATH_MAX];

        files_join(path, p->dir, "story.txt");
        if (freopen(path, "w", stdout) == NULL)
            _exit(EXIT_BUG);
    }
    exit((int)stage_perform(t->run, p, lab, number));
}

/* Choose the directory of this try.  The files of earlier tries, which were spoilt, are
 * kept. */
static void choose_dir(const struct batch *t, struct performance *p)
{
    const struct scenario_listener *listener = t->run->listener;
    char name[NAME_SIZE], lock[80];

    performance_lock(p, lock, sizeof lock);
    snprintf(name, sizeof name, "%s-%s", p->setup->scenario->name, lock);
    if (listener != NULL)
        p->vary = listener->vary(listener->arg, (size_t)(p - t->all), name, sizeof name);
    else if (p->result->tries > 1)
        snprintf(name + strlen(name), sizeof name - strlen(name), "-%d",
                 p->result->tries);
    files_join(p->dir, t->run->out, name);
}

static void begin_try(struct scenario_result *r)
{
    struct scenario_result fresh = {.tries = r->tries + 1};

    snprintf(fresh.spoilt, sizeof fresh.spoilt, "%.*s", (int)sizeof fresh.spoilt - 1,
             r->why);
    *r = fresh;
}

static bool start(struct batch *t, struct performance *p, struct lab *lab)
{
    pid_t parent = getpid(), pid;

    begin_try(p->result);
    choose_dir(t, p);
    if (t->run->listener != NULL && p->result->tries > 1)
        files_remove_tree(p->dir);
    if (!files_make_dir(p->dir)) {
        eprintf("seckill scenario: cannot make %s: %s\n", p->dir, strerror(errno));
        return false;
    }
    series_hide(t->run->series);
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        perform(t, p, lab, parent);
    if (pid < 0) {
        eprintf("seckill scenario: no process: %s\n", strerror(errno));
        return false;
    }
    p->child = (struct child){pid, child_start_time(pid)};
    p->until_ns = dlock_clock_after(dlock_clock_ns(),
                                    LIMIT_MS + (t->is_measured ? batch_length_ms(t) : 0));
    return true;
}

static void set_why(struct performance *p, enum exit_code rc, const char *why)
{
    p->result->has_happened = false;
    p->result->rc = rc;
    if (p->result->why[0] == '\0')
        snprintf(p->result->why, sizeof p->result->why, "%s", why);
}

/* Whether the performance has ended.  A performance over its time limit is killed. */
static bool has_ended(struct performance *p)
{
    int status = 0;

    if (p->child.pid == 0)
        return false;
    if (!child_wait(&p->child, 0, &status)) {
        if (dlock_clock_ns() < p->until_ns && !interrupted())
            return false;
        child_end(&p->child, SIGKILL, 1000);
        set_why(p, EXIT_UNKNOWN, "it did not come to an end");
        return true;
    }
    if (!WIFEXITED(status))
        set_why(p, EXIT_BUG, "its process died");
    else if (WEXITSTATUS(status) != (int)p->result->rc)
        set_why(p, EXIT_BUG, "its process failed at its end");
    else if (!p->result->has_happened)
        set_why(p, p->result->rc == EXIT_VALID ? EXIT_BUG : p->result->rc, "it ended");
    return true;
}

/* ---- all ---- */

static void finish(struct batch *t, struct performance *p)
{
    const struct scenario_listener *listener = t->run->listener;

    p->is_done = true;
    p->was_cut = interrupted() && scenario_verdict(p->result) == VERDICT_UNKNOWN;
    if (p->was_cut)
        return;
    if (listener != NULL) {
        if (!interrupted())
            listener->on_end(listener->arg, (size_t)(p - t->all), p->result, p->dir);
        return;
    }
    batch_tell_end(t, p);
}

static bool has_any(const struct batch *t, bool own)
{
    for (size_t i = 0; i < t->count; i++)
        if (place_is_meant(&t->all[i], own))
            return true;
    return false;
}

/* A performance that a busy machine spoilt is repeated; among thousands, any that did not
 * happen.  An unexpected outcome is never repeated. */
static bool deserves_another(const struct batch *t, const struct scenario_result *r)
{
    return r->was_spoilt || (t->run->listener != NULL && r->rc == EXIT_UNKNOWN);
}

static bool begins_anew(struct batch *t, struct performance *p, struct place *place)
{
    if (!deserves_another(t, p->result) || p->result->tries >= SCENARIO_TRIES ||
        interrupted() ||
        (scenario_has_own_servers(p->setup->scenario) && !place_restore(t, place)))
        return false;
    if (start(t, p, &place->lab))
        return true;
    set_why(p, EXIT_BUG, "it could not be started again");
    return false;
}

static bool may_begin(const struct batch *t)
{
    const struct scenario_listener *listener = t->run->listener;

    return !interrupted() && (listener == NULL || listener->may_begin(listener->arg));
}

/* Start the performance in that place, if it is meant.  False: it could not be
 * started. */
static bool begin_in(struct batch *t, struct performance *p, struct place *place,
                     bool own)
{
    if (!place_is_meant(p, own))
        return true;
    if (own && !place_restore(t, place))
        return false;
    p->place = place;
    if (!start(t, p, &place->lab))
        return false;
    place->running++;
    return true;
}

/* The first place that is not full; NULL: all are. */
static struct place *find_room(struct place *places, int count)
{
    for (int i = 0; i < count; i++)
        if (places[i].running < places[i].room)
            return &places[i];
    return NULL;
}

static bool has_running(const struct place *places, int count)
{
    for (int i = 0; i < count; i++)
        if (places[i].running > 0)
            return true;
    return false;
}

/* The stories that need servers of their own, or the others. */
static bool run_some(struct batch *t, struct place *places, int count, bool own)
{
    struct place *place;
    size_t next = 0;
    bool ok = true;

    for (;;) {
        while (ok && next < t->count && (place = find_room(places, count)) != NULL &&
               may_begin(t))
            ok = begin_in(t, &t->all[next++], place, own);
        if (!has_running(places, count))
            return ok && !interrupted();
        for (size_t i = 0; i < next; i++) {
            struct performance *p = &t->all[i];

            if (p->is_done || !has_ended(p) || begins_anew(t, p, p->place))
                continue;
            finish(t, p);
            p->place->running--;
        }
        batch_tell_news(t);
        usleep(POLL_MS * 1000);
    }
}

static enum exit_code code_of(bool ok)
{
    return ok              ? EXIT_VALID
           : interrupted() ? EXIT_INTERRUPTED
                           : EXIT_BUG;
}

static enum exit_code run_beside_others(struct batch *t)
{
    struct place place = {0};
    enum exit_code rc;

    if (!has_any(t, false))
        return EXIT_VALID;
    rc = lab_open(&place.lab, lab_choose_dir(t->run->dir), place_needs(t, false));
    if (rc != EXIT_VALID)
        return rc;
    place.room = t->run->jobs > 0 ? t->run->jobs
                 : t->is_measured ? MEASURE_JOBS
                                  : STORY_JOBS;
    rc = code_of(run_some(t, &place, 1, false));
    lab_close(&place.lab);
    return rc;
}

/* Run the performances that break servers, each in a lab of its own.  The labs are kept
 * ones, since a server that a performance restarts has to outlive that performance; they
 * are removed here, or by their keepers if this process is killed. */
static enum exit_code run_alone(struct batch *t)
{
    int count = t->run->labs > 0 ? t->run->labs : 1, made = 0;
    struct place *places = memory_need(calloc((size_t)count, sizeof *places));
    enum exit_code rc = EXIT_VALID;
    bool was_there;

    for (; has_any(t, true) && rc == EXIT_VALID && made < count; made++) {
        files_path(places[made].dir, "%s/lab-%d", t->run->out, made + 1);
        places[made].room = 1;
        rc = lab_keeper_start(&places[made].keeper, places[made].dir)
                 ? lab_keep(&places[made].lab, places[made].dir, place_needs(t, true),
                            &was_there)
                 : EXIT_UNAVAILABLE;
    }
    if (rc == EXIT_VALID && made > 0)
        rc = code_of(run_some(t, places, count, true));
    for (int i = 0; i < made; i++) {
        bool is_removed = lab_remove(places[i].dir, &was_there) == EXIT_VALID;

        if (!is_removed && rc == EXIT_VALID)
            rc = EXIT_UNAVAILABLE;
        lab_keeper_end(&places[i].keeper, is_removed);
    }
    free(places);
    return rc;
}

/* The exit status of a bug of the tool, or of a missing server, comes before that of
 * spoilt performances. */
static enum exit_code worst_of(const struct batch *t)
{
    enum exit_code worst = EXIT_VALID;

    for (size_t i = 0; i < t->count; i++)
        worst = verdict_worse_exit(worst, t->all[i].result->rc);
    return worst;
}

/* After an interrupt, forget the performances that have no outcome because of it. */
static void keep_performed(struct batch *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->count; i++)
        if (t->all[i].is_done && !t->all[i].was_cut)
            t->all[kept++] = t->all[i];
    t->cut_count = t->count - kept;
    t->count = kept;
}

/* Write the results, and sum them up. */
static enum exit_code conclude(struct batch *t, enum exit_code rc)
{
    bool is_alone = t->count == 1, ok;

    if (rc == EXIT_INTERRUPTED)
        keep_performed(t);
    else
        rc = worst_of(t);
    if (t->count == 0)
        return rc;
    series_hide(t->run->series);
    ok = t->is_measured ? batch_write_table(t) : batch_write_stories(t);
    if (!is_alone)
        batch_sum_up(t);
    if (t->run->html != NULL && !batch_write_page(t))
        ok = false;
    return ok || rc == EXIT_INTERRUPTED ? rc : EXIT_CANNOT_WRITE;
}

static void *share(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory_need(memory == MAP_FAILED ? NULL : memory);
}

enum exit_code scenario_run_all(const struct scenario_run *run,
                                const struct scenario_setup *setups, size_t count,
                                size_t *performed)
{
    struct scenario_result *results = share(count * sizeof *results);
    struct batch t = {.run = run, .count = count};
    size_t written = 0;
    enum exit_code rc;

    t.all = memory_need(calloc(count, sizeof *t.all));
    if (getrandom(&t.number, sizeof t.number, 0) != sizeof t.number)
        t.number = (unsigned)getpid() * 1000;
    for (size_t i = 0; i < count; i++) {
        t.all[i].setup = &setups[i];
        t.all[i].result = &results[i];
    }
    t.is_measured = scenario_is_measured(setups[0].scenario);
    if (t.is_measured && count > 1)
        table_head(stdout, setups[0].scenario);
    rc = run_beside_others(&t);
    if (rc == EXIT_VALID)
        rc = run_alone(&t);
    if ((rc == EXIT_VALID || rc == EXIT_INTERRUPTED) && run->listener == NULL) {
        rc = conclude(&t, rc);
        written = t.count;
    }
    if (performed != NULL)
        *performed = written;
    free(t.all);
    munmap(results, count * sizeof *results);
    return rc;
}
