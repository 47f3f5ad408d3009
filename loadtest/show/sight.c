/* SPDX-License-Identifier: MIT */
/* sight.c -- looks at the sale: database, store, processes. */
#include "loadtest/show/sight.h"

#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "lock/store.h"

enum {
    LATE_MS = 30,          /* a count begins later than it is due, and takes time       */
    DOUBLES_MS = 800,      /* between two counts that look for doubles among them       */
    FULL_MS = 5000,        /* between two counts of all rows                            */
    AFTER_FAULT_MS = 6000, /* after a fault, an old transaction may commit for this time */
    STORE_MS = 250,        /* for the store's answer                                    */
    RENEWED_MS = 50,       /* a time to live that is this much longer than the last one allows
                            * means that the lease was renewed                       */
};

static bool is_older(int64_t since_ns, int64_t ms)
{
    return monotonic_ns() - since_ns >= ms * 1000000;
}

void sight_begin(struct sight *sight)
{
    struct sight fresh = {.sale = sight->sale,
                          .trouble = sight->trouble,
                          .journal = sight->journal};

    *sight = fresh;
    sight->lock.left_ms = -1;
    points_resume(&sight->points);
    for (int i = 0; i < SERVICE_MAX; i++) {
        memset(sight->processes[i].lane, SIGHT_SERVES, SIGHT_LANE);
        sight->processes[i].state = SIGHT_SERVES;
        sight->processes[i].since_ns = monotonic_ns();
    }
}

static void note_findings(struct sight *sight)
{
    const struct tally *t = &sight->tally;
    int64_t over = t->orders - t->issued, lost = t->left + t->orders - t->issued;

    if (t->left <= 0 && !sight->is_sold_out)
        journal_add(sight->journal, JOURNAL_SOLD_OUT, 0, t->orders);
    sight->is_sold_out = t->left <= 0;
    if (lost > 0 && !sight->was_lost)
        journal_add(sight->journal, JOURNAL_LOST, 0, lost);
    sight->was_lost = sight->was_lost || lost > 0;
    if (over > 0 && !sight->was_oversold)
        journal_add(sight->journal, JOURNAL_OVERSOLD, 0, over);
    sight->was_oversold = sight->was_oversold || over > 0;
    if (t->doubles > 0 && !sight->was_double)
        journal_add(sight->journal, JOURNAL_DOUBLE, 0, t->doubles);
    sight->was_double = sight->was_double || t->doubles > 0;
}

/* A process that is stopped, or was until a moment ago, may commit a transaction whose number
 * is older than the rows that are not counted again. */
static bool needs_all(const struct sight *sight)
{
    return sight->kept.below == 0 || is_older(sight->full_ns, FULL_MS) ||
           trouble_is_any(sight->trouble) ||
           (sight->trouble->over_ns && !is_older(sight->trouble->over_ns, AFTER_FAULT_MS));
}

static void count(struct sight *sight, enum tally_scope scope)
{
    if (!tally_read(sight->sale->db, sight->sale->voucher, scope, &sight->kept, &sight->tally))
        return;
    sight->has_tally = true;
    sight->tally_ns = monotonic_ns();
    if (scope != TALLY_NEW_ORDERS)
        sight->doubles_ns = sight->tally_ns;
    if (scope == TALLY_ALL)
        sight->full_ns = sight->tally_ns;
    note_findings(sight);
}

/* Count as few rows as the required age of each figure allows. */
static void count_new(struct sight *sight)
{
    count(sight, needs_all(sight)                            ? TALLY_ALL
                 : is_older(sight->doubles_ns, DOUBLES_MS) ? TALLY_NEW
                                                             : TALLY_NEW_ORDERS);
}

void sight_count_all(struct sight *sight)
{
    bool is_quiet = false;

    /* First see that no transaction is open; then the count has all rows. */
    is_quiet = audit_db_quiet(sight->sale->db, &is_quiet) && is_quiet;
    count(sight, TALLY_ALL);
    sight->is_settled = is_quiet;
}

/* Can the store be asked by way of that process? */
static bool can_ask(const struct show_sale *sale, int i)
{
    return child_works(&sale->services[i].child) && !sale->wires.is_cut[i];
}

/* Ask one process that runs: the one that answered last, or the next one after it. */
static void look_at_store(struct sight *sight)
{
    const struct show_sale *sale = sight->sale;
    struct service_lock lock = {.left_ms = -1};
    bool answered = false;

    for (int k = 0; *sale->key && k < sale->service_count; k++) {
        int i = (sight->asked + k) % sale->service_count;

        if (!can_ask(sale, i))
            continue;
        answered = service_look_lock_within(&sale->services[i], sale->key, STORE_MS, &lock);
        sight->asked = answered ? i : i + 1;
        break;
    }
    sight->store_answers = answered;
    if (!answered)
        return;
    if (!lock.is_locked || strcmp(lock.owner, sight->lock.owner) != 0)
        sight->renewals = 0;
    else if (lock.left_ms >
             sight->lock.left_ms - (monotonic_ns() - sight->store_ns) / 1000000 + RENEWED_MS)
        sight->renewals++;
    sight->lock = lock;
    sight->store_ns = monotonic_ns();
}

/* Has each process a lock of its own in its memory? */
static bool is_local(const struct show_sale *sale)
{
    return dlock_store_of(dlock_variant_find(sale->switches.lock)) == DLOCK_STORE_PROCESS;
}

/* Local locks may be held in all processes at once, so all processes are asked. */
static void look_at_own_locks(struct sight *sight)
{
    const struct show_sale *sale = sight->sale;

    for (int i = 0; i < sale->service_count; i++) {
        struct service_lock lock;

        sight->processes[i].holds_its_own =
            is_local(sale) && *sale->key && can_ask(sale, i) &&
            service_look_lock_within(&sale->services[i], sale->key, STORE_MS, &lock) &&
            lock.is_locked;
    }
}

/* Does the store still name the thread that the fault caught?  A local lock has no lease. */
static bool is_by_right(const struct sight *sight, int process)
{
    const struct service_lock *hold = trouble_hold_of(sight->trouble, process);

    if (is_local(sight->sale))
        return hold->is_locked;
    return hold->is_locked && sight->lock.is_locked &&
           strcmp(hold->owner, sight->lock.owner) == 0 && hold->fence == sight->lock.fence;
}

static char state_of(const struct sight *sight, int i)
{
    const struct show_sale *sale = sight->sale;
    const char *system = sale->systems[i];
    char state = child_state(&sale->services[i].child);
    int fault = trouble_of_process(sight->trouble, i);

    if (state == 0)
        return SIGHT_DEAD;
    if (fault == SHOW_FAULT_FREEZE)
        return is_by_right(sight, i) ? SIGHT_FROZEN_HOLDS : SIGHT_FROZEN_LATE;
    if (fault == SHOW_FAULT_SLOW || fault == SHOW_FAULT_GAP)
        return is_by_right(sight, i) ? SIGHT_SLOW : SIGHT_LATE;
    if (sight->processes[i].holds_its_own)
        return SIGHT_HOLDS;
    if (sight->store_answers && sight->lock.is_locked && *system &&
        strncmp(sight->lock.owner, system, strlen(system)) == 0)
        return SIGHT_HOLDS;
    return sight->processes[i].in_flight > 0 ? SIGHT_WAITS : SIGHT_SERVES;
}

static bool is_late(char state)
{
    return state == SIGHT_LATE || state == SIGHT_FROZEN_LATE;
}

static void look_at_process(struct sight *sight, int i)
{
    struct sight_process *p = &sight->processes[i];
    int64_t count = sight->sale->service_count;
    int64_t share = (sight->sale->switches.connections + count - 1) / count;
    char state;

    if (sight->sale->is_loaded) {
        const struct control *control = &sight->sale->control;

        p->orders = control_of(control, i + 1, CONTROL_ACCEPTED);
        if (control_of(control, i + 1, CONTROL_STALE) > p->refused)
            journal_add(sight->journal, JOURNAL_REFUSED, i + 1,
                        control_of(control, i + 1, CONTROL_STALE) - p->refused);
        p->refused = control_of(control, i + 1, CONTROL_STALE);
        p->in_flight = control_of(control, i + 1, CONTROL_SENT) -
                       control_of(control, i + 1, CONTROL_ANSWERED);
        /* The answers to requests that a killed process had will never come. */
        if (p->in_flight > share)
            p->in_flight = share;
    } else {
        p->in_flight = 0;
    }
    state = state_of(sight, i);
    /* The look that found the holder late may have found the lock free. */
    if (!is_late(state))
        p->is_told_late = false;
    else if (!p->is_told_late && *sight->sale->key && sight->lock.is_locked) {
        journal_add(sight->journal, JOURNAL_SECOND, i + 1, 0);
        p->is_told_late = true;
    }
    if (state != p->state)
        p->since_ns = monotonic_ns();
    p->state = state;
    memmove(p->lane, p->lane + 1, SIGHT_LANE - 1);
    p->lane[SIGHT_LANE - 1] = state;
}

int64_t sight_next_ns(const struct sight *sight)
{
    return sight->has_tally ? sight->tally_ns + (SIGHT_COUNT_MS + LATE_MS) * INT64_C(1000000) : 0;
}

void sight_look(struct sight *sight)
{
    struct show_sale *sale = sight->sale;

    if (sale->is_loaded) {
        sight->accepted = control_sum(&sale->control, CONTROL_ACCEPTED);
        sight->sold_out = control_sum(&sale->control, CONTROL_SOLD_OUT);
    }
    look_at_store(sight);
    look_at_own_locks(sight);
    for (int i = 0; i < sale->service_count; i++)
        look_at_process(sight, i);
    if (sale->is_loaded && points_is_due(&sight->points))
        points_add(&sight->points, &sale->control);
    if (!sight->has_tally || (sale->is_loaded && is_older(sight->tally_ns, SIGHT_COUNT_MS)))
        count_new(sight);
    else if (!sight->is_settled && sale->has_run && is_older(sight->tally_ns, SIGHT_COUNT_MS))
        sight_count_all(sight);
}
