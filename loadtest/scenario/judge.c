/* SPDX-License-Identifier: MIT */
/* judge.c -- the outcome of a performance, from the checker's findings, the rows of the
 * database and the observations of play(). */
#include "loadtest/scenario/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/audit.h"
#include "loadtest/scenario/background/load.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/measure.h"
#include "loadtest/scenario/stage.h"

#define SIGNS_DAMAGE                                                                   \
    (SIGN_OVERSOLD | SIGN_LOST_UPDATE | SIGN_DUPLICATE | SIGN_STALE_WRITE |     \
     SIGN_LOST_ORDER | SIGN_BROKEN_PROMISE | SIGN_UNDERSOLD)

/* The sign that each finding of the checker stands for. */
static const struct {
    enum check_property property;
    enum scenario_sign sign;
} signs_of_findings[] = {
    {CHECK_exclusion, SIGN_TWO_HOLDERS}, {CHECK_kept, SIGN_LOST_EARLY},
    {CHECK_lease, SIGN_WORKED_ON},       {CHECK_reentry, SIGN_TWICE},
    {CHECK_ownership, SIGN_FOREIGN},     {CHECK_fence, SIGN_FENCE},
    {CHECK_fairness, SIGN_OVERTAKEN},    {CHECK_wakes, SIGN_HERD},
    {CHECK_resource, SIGN_STALE_WRITE},
};

enum { FINDING_COUNT = sizeof signs_of_findings / sizeof signs_of_findings[0] };

/* Give the processes of the history the participants' names, which people read instead of pids. */
static void name_processes(struct stage *s)
{
    for (size_t i = 0; i < s->history.process_count; i++)
        for (int j = 0; j < s->process_count; j++)
            if (s->history.processes[i].pid == s->processes[j].pid)
                snprintf(s->history.processes[i].label,
                         sizeof s->history.processes[i].label, "%s",
                         s->processes[j].part.name);
}

/* False: no verdict is possible, and result->why has the reason. */
static bool check_history(struct stage *s)
{
    struct check_options options = check_options_default();
    int64_t name;

    s->check = check_new();
    if (!history_read(&s->history, s->records)) {
        snprintf(s->result->why, sizeof s->result->why, "the records cannot be read");
        return false;
    }
    name_processes(s);
    name = history_find_name(&s->history, s->lock);
    for (size_t i = 0; i < s->write_count; i++)
        s->writes[i].name = (uint32_t)name;
    if (name >= 0) {
        options.writes = s->writes;
        options.write_count = s->write_count;
    }
    check_judge(s->check, &s->history, &options, &s->verdict);
    if (s->history.damage_count > 0)
        snprintf(s->result->why, sizeof s->result->why, "the records have holes: %s",
                 s->history.damages[0]);
    else if (s->verdict.calls == 0)
        snprintf(s->result->why, sizeof s->result->why, "nobody asked for the lock");
    return s->result->why[0] == '\0';
}

/* Two grants of different owners in one finding: the lock was not only lost, another
 * owner got it as well. */
static bool names_two_holders(const struct stage *s, const struct check_example *example)
{
    const struct history_call *calls = s->history.calls;
    const struct history_call *a = &calls[example->actors[0]];
    const struct history_call *b = &calls[example->actors[1]];

    return example->actor_count == 2 && a->kind == DLOCK_EVENT_ACQUIRE &&
           b->kind == DLOCK_EVENT_ACQUIRE &&
           (a->process != b->process || a->owner != b->owner);
}

/* The number of faults that took effect: those that began and those of one instant. */
static int64_t count_faults(const struct history *h)
{
    int64_t count = 0;

    for (size_t i = 0; i < h->mark_count; i++)
        count += h->marks[i].kind == DLOCK_EVENT_FAULT &&
                 (h->marks[i].detail == DLOCK_FAULT_HAS_BEGUN ||
                  h->marks[i].detail == DLOCK_FAULT_HAPPENED);
    return count;
}

static void read_findings(struct stage *s)
{
    for (int i = 0; i < FINDING_COUNT; i++) {
        const struct check_finding *finding =
            &s->verdict.findings[signs_of_findings[i].property];

        if (finding->count == 0)
            continue;
        s->signs |= (unsigned)signs_of_findings[i].sign;
        for (size_t j = 0; j < finding->example_count; j++) {
            unsigned signs = (unsigned)signs_of_findings[i].sign;

            if (signs_of_findings[i].property == CHECK_kept &&
                names_two_holders(s, &finding->examples[j]))
                signs |= SIGN_TWO_HOLDERS;
            s->signs |= signs;
            if (s->setup->scenario->breaks & signs)
                s->result->gave_way |= 1u << finding->examples[j].assumption;
        }
    }
}

/* SIGN_BROADCAST: releases woke more waiters, of all processes, than there were releases
 * and waits.  The checker's property of wake-ups counts each process alone, since most
 * locks cannot know the waiters of other processes.  A waiter may be woken once more by a
 * release that happened as it began to wait. */
static void count_wake_ups(struct stage *s)
{
    int64_t woken = 0, allowed = 0;

    for (size_t i = 0; i < s->history.mark_count; i++) {
        woken += s->history.marks[i].kind == DLOCK_EVENT_WAKE &&
                 s->history.marks[i].detail == 1;
        allowed += s->history.marks[i].kind == DLOCK_EVENT_WAIT;
    }
    for (size_t i = 0; i < s->history.call_count; i++)
        allowed += s->history.calls[i].kind == DLOCK_EVENT_RELEASE;
    if (woken > allowed)
        s->signs |= SIGN_BROADCAST;
}

/* ---- the database ---- */

struct sold {
    int64_t count;
    struct order_row rows[ORDERS_MAX];
    bool has_duplicate;
};

static bool add_order(const struct audit_db_order *order, void *arg)
{
    struct sold *sold = arg;

    for (int64_t i = 0; i < sold->count && i < ORDERS_MAX; i++)
        sold->has_duplicate |= strcmp(sold->rows[i].user, order->user) == 0;
    if (sold->count < ORDERS_MAX) {
        struct order_row *row = &sold->rows[sold->count];

        snprintf(row->user, sizeof row->user, "%s", order->user);
        snprintf(row->request, sizeof row->request, "%s", order->request);
    }
    sold->count++;
    return true;
}

/* Is an order missing of which a client was told?  A measurement has more rows than are kept, so
 * they are only counted. */
static bool lacks_order(const struct stage *s, const struct sold *sold, bool is_queued)
{
    int64_t told = is_queued ? s->promised : s->told_sold;

    return sold->count < told ||
           (sold->count <= ORDERS_MAX &&
            !orders_are_there(sold->rows, (size_t)sold->count, s->told, s->told_order_count,
                              is_queued));
}

static bool read_database(struct stage *s)
{
    struct audit_db_stock stock = {0};
    struct sold sold = {0};
    char url[256], error[300];
    lab_db *db;
    bool ok;

    lab_database_url(s->lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error)) {
        snprintf(s->result->why, sizeof s->result->why, "the database: %s", error);
        return false;
    }
    ok = audit_db_stock(db, s->voucher, &stock) &&
         audit_db_orders(db, s->voucher, add_order, &sold);
    if (!ok)
        snprintf(s->result->why, sizeof s->result->why, "the database: %s",
                 lab_db_error(db));
    lab_db_close(db);
    if (sold.count > stock.issued)
        s->signs |= SIGN_OVERSOLD;
    if (sold.count + stock.left != stock.issued)
        s->signs |= SIGN_LOST_UPDATE;
    if (sold.has_duplicate && !scenario_is_measured(s->setup->scenario))
        s->signs |= SIGN_DUPLICATE;
    if (lacks_order(s, &sold, false))
        s->signs |= SIGN_LOST_ORDER;
    if (lacks_order(s, &sold, true))
        s->signs |= SIGN_BROKEN_PROMISE;
    if (s->told_sold_out && stock.left > 0)
        s->signs |= SIGN_UNDERSOLD;
    s->issued = stock.issued;
    s->left = stock.left;
    s->sold = sold.count;
    return ok;
}

/* ---- the outcome ---- */

enum scenario_outcome judge_outcome(unsigned signs, unsigned breaks)
{
    /* If fences went down, the refused write may have been the right one. */
    if ((signs & SIGN_STALE_REFUSED) && !(signs & (SIGNS_DAMAGE | SIGN_FENCE)))
        return SCENARIO_FENCED;
    if (signs & breaks)
        return SCENARIO_BREAKS;
    if (signs & SIGN_DEAD_LOCK)
        return SCENARIO_DEAD;
    if (signs & SIGN_LEASE_WAITED)
        return SCENARIO_WAITS;
    if (signs & SIGN_CALL_REFUSED)
        return SCENARIO_REFUSES;
    return SCENARIO_HOLDS;
}

bool judge_compare(struct scenario_result *r, const struct expectation *e)
{
    unsigned damage = e->outcome == SCENARIO_BREAKS ? 0 : r->signs & SIGNS_DAMAGE & ~e->shows;

    if (r->outcome != e->outcome) {
        snprintf(r->why, sizeof r->why, "expected: %s",
                 scenario_outcome_name(e->outcome, false));
        return false;
    }
    for (int i = 0; i < SIGN_COUNT; i++)
        if (((e->shows & ~r->signs) | damage) & (1u << i)) {
            snprintf(r->why, sizeof r->why, "it %s: %s",
                     damage & (1u << i) ? "was not to show" : "does not show",
                     scenario_sign_name(i, false));
            return false;
        }
    if (e->broken != DLOCK_ASSUMES_NONE && !(r->gave_way & (1u << e->broken))) {
        snprintf(r->why, sizeof r->why, "this did hold, and was not to: %s",
                 dlock_assumption_text((int)e->broken));
        return false;
    }
    return true;
}

/* Judge a measurement that lost nothing in less than its full length.  With the fence
 * nothing should be lost, so the outcome is as expected.  Without the fence an update
 * should be lost, so a short measurement proves nothing. */
static void forgive_short(struct scenario_result *r, const struct expectation *e)
{
    if (e->outcome == SCENARIO_FENCED) {
        r->is_expected = true;
        r->rc = EXIT_VALID;
        r->why[0] = '\0';
    } else if (e->outcome == SCENARIO_BREAKS) {
        snprintf(r->why, sizeof r->why, "nothing was lost; it took less than its full "
                                        "length");
        r->rc = EXIT_UNKNOWN;
    }
}

/* The performance is as expected; the background load must be clean as well.  A lateness
 * of this machine spoils the performance. */
static void add_background(struct scenario_result *r)
{
    if (r->background_blame == BACKGROUND_CLEAN)
        return;
    snprintf(r->why, sizeof r->why, "%s", r->background_why);
    r->is_expected = false;
    r->was_spoilt = r->background_blame == BACKGROUND_MACHINE;
    r->rc = r->was_spoilt ? EXIT_UNKNOWN : EXIT_INVALID;
}

void stage_judge(struct stage *s)
{
    struct scenario_result *r = s->result;

    if (!check_history(s) || !read_database(s) || !stage_count_updates(s) ||
        !background_check(s)) {
        r->rc = EXIT_UNKNOWN;
        return;
    }
    read_findings(s);
    count_wake_ups(s);
    r->signs = s->signs;
    r->outcome = judge_outcome(s->signs, s->setup->scenario->breaks);
    r->holds = s->verdict.holds;
    r->faults = count_faults(&s->history);
    r->is_expected = judge_compare(r, s->setup->expected);
    r->rc = r->is_expected ? EXIT_VALID : EXIT_INVALID;
    if (r->tally.is_short && r->outcome == SCENARIO_HOLDS)
        forgive_short(r, s->setup->expected);
    if (r->is_expected)
        add_background(r);
}
