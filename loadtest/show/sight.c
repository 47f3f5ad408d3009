/* SPDX-License-Identifier: MIT */
/* sight.c -- looks at the sale: database, store, processes. */
#include "loadtest/show/sight.h"

#include <math.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "loadtest/probe/redis_connection.h"
#include "lock/store.h"

enum {
    LATE_MS = 30,          /* a count begins later than it is due, and takes time       */
    DOUBLES_MS = 800,      /* between two counts that look for doubles among them       */
    FULL_MS = 5000,        /* between two counts of all rows                            */
    AFTER_FAULT_MS = 6000, /* after a fault, an old transaction may commit for this time */
    STORE_MS = 250,        /* for the store's answer                                    */
    NODE_MS = 50,          /* for that of one server of five                            */
    RENEWED_MS = 50,       /* a time to live that is this much longer than the last one allows
                            * means that the lease was renewed                       */
    ROUNDED_MS = 3,        /* of one lease, two answers' ends differ by this for rounding */
};

#define STEP_NS (POINTS_STEP_MS * INT64_C(1000000))

/* The time that `share` of the window's orders did not exceed; -1: there are fewer than
 * `enough`. */
static int64_t quantile_us(const struct show_points *points, double share, int64_t enough)
{
    int64_t total = 0, in[CONTROL_BUCKETS];

    for (int k = 0; k < CONTROL_BUCKETS; k++) {
        in[k] = points->buckets[POINTS_WINDOW][k] - points->buckets[0][k];
        total += in[k];
    }
    return total >= enough ? llround(buckets_quantile_ms(in, share) * 1000) : -1;
}

void points_resume(struct show_points *points)
{
    points->due_ns = monotonic_ns() + STEP_NS;
}

static void points_add(struct show_points *points, const struct control *control)
{
    struct show_point *point = &points->kept[points->count % POINTS_KEPT];
    int64_t now[3] = {control_sum(control, CONTROL_ACCEPTED),
                      control_sum(control, CONTROL_SOLD_OUT),
                      control_sum(control, CONTROL_OTHER)};

    memmove(points->buckets[0], points->buckets[1], POINTS_WINDOW * sizeof points->buckets[0]);
    memset(points->buckets[POINTS_WINDOW], 0, sizeof points->buckets[0]);
    control_add_latency(control, points->buckets[POINTS_WINDOW]);
    *point = (struct show_point){.accepted = now[0] - points->last[0],
                                 .sold_out = now[1] - points->last[1],
                                 .other = now[2] - points->last[2],
                                 .p50_us = quantile_us(points, 0.5, 1),
                                 .p99_us = quantile_us(points, 0.99, POINTS_ENOUGH)};
    memcpy(points->last, now, sizeof now);
    points->count++;
    /* The next point is due a step after this one was, not a step after this one was taken,
     * unless a whole step was missed. */
    points->due_ns += STEP_NS;
    if (monotonic_ns() > points->due_ns)
        points->due_ns = monotonic_ns() + STEP_NS;
}

static json_t *points_known(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

json_t *points_json(const struct show_points *points)
{
    int64_t first = points->count > POINTS_KEPT ? points->count - POINTS_KEPT : 0;
    json_t *accepted = json_array(), *sold_out = json_array(), *other = json_array(),
           *p50 = json_array(), *p99 = json_array();

    for (int64_t i = first; i < points->count; i++) {
        const struct show_point *point = &points->kept[i % POINTS_KEPT];

        json_array_append_new(accepted, json_integer(point->accepted));
        json_array_append_new(sold_out, json_integer(point->sold_out));
        json_array_append_new(other, json_integer(point->other));
        json_array_append_new(p50, points_known(point->p50_us));
        json_array_append_new(p99, points_known(point->p99_us));
    }
    return json_pack("{s:I, s:i, s:o, s:o, s:o, s:o, s:o}", "from_ms",
                     (json_int_t)(first * POINTS_STEP_MS), "step_ms", POINTS_STEP_MS, "accepted",
                     accepted, "sold_out", sold_out, "other", other, "p50_us", p50, "p99_us", p99);
}

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

int sight_process_of(const struct sight *sight)
{
    const struct show_sale *sale = sight->sale;

    for (int i = 0; i < sale->service_count; i++)
        if (*sale->systems[i] && sight->lock.is_locked &&
            strncmp(sight->lock.owner, sale->systems[i], strlen(sale->systems[i])) == 0)
            return i + 1;
    return 0;
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
    if (!lock.is_locked || strcmp(lock.owner, sight->lock.owner) != 0 ||
        sight->store_ns < sight->trouble->faults[SHOW_FAULT_SLOW].since_ns)
        sight->renewals = 0;
    else if (lock.left_ms >= 0 && lock.left_ms >
             sight->lock.left_ms - (monotonic_ns() - sight->store_ns) / 1000000 + RENEWED_MS)
        sight->renewals++;
    sight->lock = lock;
    sight->store_ns = monotonic_ns();
    sight->names_processes = sight->names_processes || sight_process_of(sight) > 0;
}

/* Ask each server of a lock in five. */
static void look_at_nodes(struct sight *sight)
{
    const struct show_sale *sale = sight->sale;
    const struct lab_server *server = sale->lab->servers, *end = server + sale->lab->server_count;

    memset(sight->nodes, 0, sizeof sight->nodes);
    if (!*sale->key || dlock_store_of(dlock_variant_find(sale->switches.lock)) !=
                           DLOCK_STORE_REDIS_NODES)
        return;
    for (; server < end; server++) {
        if (server->role == LAB_REDLOCK) {
            struct redis_side *side = redis_side_open(sale->lab, server, NODE_MS);
            bool there, says = redis_side_has(side, sale->key, &there);

            sight->nodes[server->node] = !says ? NODE_SILENT : there ? NODE_LOCKED : NODE_FREE;
            redis_side_close(side);
        }
    }
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
        bool answered = is_local(sale) && *sale->key && can_ask(sale, i) &&
                        service_look_lock_within(&sale->services[i], sale->key, STORE_MS, &lock);

        sight->processes[i].own = !answered        ? SIGHT_WORKS
                                  : lock.is_locked ? SIGHT_HOLDS
                                                   : SIGHT_WAITS;
    }
}

/* May both answers be of one grant?  An owner that nobody else can have tells grants apart, and
 * otherwise the end of the lease does, which each answer bounds. */
static bool may_be_one_grant(const struct sight *sight, const struct service_lock *hold)
{
    const struct service_lock *now = &sight->lock;
    const dlock_variant_info *variant = dlock_variant_find(sight->sale->switches.lock);

    if (!now->is_locked || strcmp(hold->owner, now->owner) != 0 || hold->fence != now->fence)
        return false;
    if (sight->names_processes || (variant->caps & DLOCK_CAP_OWNED) || hold->left_ms < 0)
        return true;
    return now->asked_ns / 1000000 + now->left_ms <=
           hold->answered_ns / 1000000 + hold->left_ms + ROUNDED_MS;
}

/* Does the store still name the thread that the fault caught?  One of these states. */
static char state_of_caught(const struct sight *sight, int process, char holds, char lost,
                            char unknown)
{
    const struct service_lock *hold = trouble_hold_of(sight->trouble, process);

    if (!hold->is_locked)
        return unknown;
    if (is_local(sight->sale)) /* it has no lease */
        return holds;
    return !sight->store_answers ? unknown : may_be_one_grant(sight, hold) ? holds : lost;
}

/* Has a thread of the process the lock, as far as can be known? */
static char state_of_lock(const struct sight *sight, int i)
{
    if (is_local(sight->sale))
        return sight->processes[i].own;
    if (!sight->store_answers || !sight->names_processes)
        return SIGHT_WORKS;
    return sight_process_of(sight) == i + 1 ? SIGHT_HOLDS : SIGHT_WAITS;
}

static char state_of(const struct sight *sight, int i)
{
    char state = child_state(&sight->sale->services[i].child);
    int fault = trouble_of_process(sight->trouble, i);

    if (state == 0)
        return SIGHT_DEAD;
    if (fault == SHOW_FAULT_FREEZE)
        return state_of_caught(sight, i, SIGHT_FROZEN_HOLDS, SIGHT_FROZEN_LATE, SIGHT_FROZEN);
    if (fault == SHOW_FAULT_SLOW || fault == SHOW_FAULT_GAP)
        return state_of_caught(sight, i, SIGHT_SLOW, SIGHT_LATE, SIGHT_WORKS);
    state = state_of_lock(sight, i);
    return state == SIGHT_HOLDS || sight->processes[i].in_flight > 0 ? state : SIGHT_SERVES;
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
    look_at_nodes(sight);
    for (int i = 0; i < sale->service_count; i++)
        look_at_process(sight, i);
    if (sale->is_loaded && monotonic_ns() >= sight->points.due_ns)
        points_add(&sight->points, &sale->control);
    if (!sight->has_tally || (sale->is_loaded && is_older(sight->tally_ns, SIGHT_COUNT_MS)))
        count_new(sight);
    else if (!sight->is_settled && sale->has_run && is_older(sight->tally_ns, SIGHT_COUNT_MS))
        sight_count_all(sight);
}
