/* SPDX-License-Identifier: MIT */
/* lesson_script.c -- the faults of the lessons, step by step. */
#include "loadtest/show/lesson_script.h"

#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"

enum {
    ASK_MS = 50,         /* between two questions to the database                       */
    CATCH_MS = 30000,    /* the longest wait for a thread to reach the point             */
    SELL_MS = 60000,     /* the longest wait for others to sell or to be refused         */
    TRIES = 8,           /* this many refused requests show that the lock excludes      */
    SOLD = 20,           /* this many orders of others show that they sell              */
    MANY = 60,           /* this many orders of others end the step in any case         */
    DEAD_LEASES = 3,     /* refusals for this many leases show a lock without an end     */
};

static const char READ[] = "after-read", GAP[] = "between-check-and-delete",
                  CRASH[] = "between-setnx-and-expire";

static int64_t stage_ms(const struct lesson_script *script)
{
    return (monotonic_ns() - script->stage_ns) / 1000000;
}

/* Has enough time passed for another question? */
static bool may_ask(struct lesson_script *script)
{
    if (monotonic_ns() - script->asked_ns < ASK_MS * INT64_C(1000000))
        return false;
    script->asked_ns = monotonic_ns();
    return true;
}

/* The orders of the voucher; false: the database does not answer. */
static bool count_orders(const struct lesson_script *script, int64_t *count)
{
    const struct audit_db_filter filter = {.first_voucher = script->sale->voucher,
                                           .last_voucher = script->sale->voucher};

    return audit_db_count(script->sale->db, &filter, count);
}

static void next_stage(struct lesson_script *script)
{
    script->stage++;
    script->stage_ns = monotonic_ns();
    script->asked_ns = 0;
    script->has_era = false;
    if (!count_orders(script, &script->baseline))
        script->baseline = script->sight->tally.orders;
}

static bool runs(const struct lesson_script *script, int process)
{
    return child_works(&script->sale->services[process].child);
}

/* Arm the point in all processes but `not_this`; -1: in all. */
static bool arm(const struct lesson_script *script, const char *point, const char *action,
                int not_this)
{
    bool is_armed = false;

    for (int i = 0; i < script->sale->service_count; i++)
        if (i != not_this && runs(script, i))
            is_armed = service_arm(&script->sale->services[i], point, action, script->sale->key) ||
                       is_armed;
    return is_armed;
}

/* Let the threads that are held at the point continue, in all processes but `not_this`. */
static void release(const struct lesson_script *script, const char *point, int not_this)
{
    for (int i = 0; i < script->sale->service_count; i++)
        if (i != not_this && runs(script, i))
            (void)service_release(&script->sale->services[i], point);
}

/* The fault as which the page shows the late holder of DELETE and GAP. */
static struct trouble_fault *first_fault(const struct lesson_script *script)
{
    return &script->trouble->faults[script->fault == LESSON_GAP ? SHOW_FAULT_GAP : SHOW_FAULT_SLOW];
}

/* Let all threads continue that this script holds.  trouble.c releases the threads that it
 * holds. */
static void let_all_go(struct lesson_script *script)
{
    script->trouble->has_second = false;
    if (script->fault == LESSON_DELETE || script->fault == LESSON_GAP) {
        first_fault(script)->state = SHOW_FAULT_OFF;
        script->trouble->over_ns = monotonic_ns();
        release(script, GAP, -1);
        release(script, READ, -1);
    }
    if (script->fault == LESSON_CRASH)
        release(script, CRASH, -1);
}

static void give_up(struct lesson_script *script, const char *why)
{
    script->missed = why;
    script->is_over = true;
    let_all_go(script);
}

/* A process, other than `not_this`, in which a thread is held at the point; -1: none. */
static int find_caught(const struct lesson_script *script, const char *point,
                       int not_this)
{
    for (int i = 0; i < script->sale->service_count; i++) {
        bool held = false;

        if (i != not_this && runs(script, i) &&
            service_is_holding(&script->sale->services[i], point, &held) && held)
            return i;
    }
    return -1;
}

static void begin_era(struct lesson_script *script)
{
    if (!script->has_era)
        control_begin_era(&script->sale->control);
    script->has_era = true;
    script->tried = control_tried(&script->sale->control);
}

static enum show_fault fault_of(const struct lesson_script *script)
{
    return script->fault == LESSON_FREEZE ? SHOW_FAULT_FREEZE : SHOW_FAULT_SLOW;
}

static void catch_one(struct lesson_script *script)
{
    enum show_fault fault = fault_of(script);
    enum show_fault_state state = script->trouble->faults[fault].state;

    if (state == SHOW_FAULT_ON) {
        script->first = script->trouble->faults[fault].process;
        script->fence = script->trouble->faults[fault].hold.fence;
        next_stage(script);
    } else if (state == SHOW_FAULT_OFF) {
        give_up(script, "nobody-caught");
    }
}

/* Does the store still name the held thread as the owner, although others have asked? */
static bool stays_out(const struct lesson_script *script)
{
    const struct service_lock *hold = &script->trouble->faults[fault_of(script)].hold;

    return script->others == 0 && script->tried >= TRIES && script->sight->store_answers &&
           script->sight->lock.is_locked && hold->is_locked &&
           strcmp(script->sight->lock.owner, hold->owner) == 0;
}

/* Others sell after the lease, or are kept out for one lease more. */
static void watch_others(struct lesson_script *script)
{
    int64_t count, held_ms = stage_ms(script);
    bool is_enough;

    if (held_ms < 2 * script->lease_ms || !may_ask(script))
        return;
    begin_era(script);
    if (!count_orders(script, &count))
        return;
    script->others = count - script->baseline;
    script->held_ms = held_ms;
    script->stayed_out = stays_out(script);
    is_enough = script->others >= script->sale->switches.stock - script->baseline ||
                (script->others >= SOLD && held_ms > 4 * script->lease_ms) ||
                (script->stayed_out && held_ms > 3 * script->lease_ms);
    if (!is_enough && held_ms < 4 * script->lease_ms + SELL_MS)
        return;
    trouble_take_back(script->trouble, fault_of(script));
    script->is_over = true;
    if (script->others == 0 && !script->stayed_out)
        script->missed = "nobody-sold";
}

static void catch_dead(struct lesson_script *script)
{
    for (int i = 0; i < script->sale->service_count; i++) {
        if (child_state(&script->sale->services[i].child) != 0)
            continue;
        script->first = i;
        journal_add(script->journal, JOURNAL_KILLED, i + 1, 0);
        next_stage(script);
        begin_era(script);
        return;
    }
    if (stage_ms(script) > CATCH_MS)
        give_up(script, "nobody-caught");
}

/* Watch the lock of a dead holder: either another holder gets it, or the lock has no end. */
static void watch_dead(struct lesson_script *script)
{
    const struct service_lock *lock = &script->sight->lock;
    int64_t count;

    if (!may_ask(script) || script->sight->store_ns < script->stage_ns ||
        !count_orders(script, &count))
        return;
    begin_era(script);
    script->held_ms = stage_ms(script);
    script->others = count - script->baseline;
    if (script->others > 0 ||
        (script->sight->store_answers && (!lock->is_locked || lock->left_ms >= 0))) {
        give_up(script, "somebody-got-in");
        return;
    }
    script->stayed_out = script->sight->store_answers && script->tried >= TRIES &&
                         script->held_ms > DEAD_LEASES * script->lease_ms;
    if (script->stayed_out)
        script->is_over = true;
    else if (script->held_ms > DEAD_LEASES * script->lease_ms + SELL_MS)
        give_up(script, "nobody-sold");
}

static const char *first_point(const struct lesson_script *script)
{
    return script->fault == LESSON_GAP ? GAP : READ;
}

static void catch_first(struct lesson_script *script)
{
    struct trouble_fault *fault = first_fault(script);
    int process = find_caught(script, first_point(script), -1);

    if (process < 0) {
        if (stage_ms(script) > CATCH_MS)
            give_up(script, "nobody-caught");
        return;
    }
    release(script, first_point(script), process);
    script->first = process;
    fault->process = process;
    fault->since_ns = monotonic_ns();
    fault->state = SHOW_FAULT_ON;
    show_sale_look_at_lock(script->sale, process, &fault->hold);
    journal_add(script->journal, script->fault == LESSON_GAP ? JOURNAL_GAP : JOURNAL_SLOW,
                process + 1, 0);
    /* The second one works in another process, where everybody sees it. */
    if (arm(script, READ, "hold", process))
        next_stage(script);
    else
        give_up(script, "nobody-caught");
}

/* Wait until the next holder has read the stock, and then let the late holder continue. */
static void catch_second(struct lesson_script *script)
{
    struct show_faults *trouble = script->trouble;
    int process = find_caught(script, READ, script->first);
    int64_t now_ns;

    if (process < 0) {
        if (stage_ms(script) > script->lease_ms + CATCH_MS)
            give_up(script, "nobody-caught");
        return;
    }
    script->second = process;
    now_ns = monotonic_ns();
    show_sale_look_at_lock(script->sale, process, &trouble->second_hold);
    trouble->second = process;
    trouble->has_second = true;
    script->hold_ends_ns = trouble->second_hold.left_ms < 0
                               ? 0
                               : now_ns + trouble->second_hold.left_ms * 1000000;
    journal_add(script->journal, JOURNAL_SLOW, process + 1, 0);
    next_stage(script);
    (void)service_release(&script->sale->services[script->first], first_point(script));
    first_fault(script)->state = SHOW_FAULT_OFF;
    trouble->over_ns = monotonic_ns();
    journal_add(script->journal,
                script->fault == LESSON_GAP ? JOURNAL_GAP_OVER : JOURNAL_SLOW_OVER,
                script->first + 1, 0);
}

/* Let the second holder continue, which writes the stock that it computed before. */
static void let_second_go(struct lesson_script *script)
{
    script->trouble->has_second = false;
    script->trouble->over_ns = monotonic_ns();
    (void)service_release(&script->sale->services[script->second], READ);
    journal_add(script->journal, JOURNAL_SLOW_OVER, script->second + 1, 0);
    script->is_over = true;
}

/* Was the lock of the second holder deleted?  True if, during its lease, the store names another
 * owner or none, or a third holder sells. */
static bool is_deleted(const struct lesson_script *script)
{
    const struct sight *sight = script->sight;

    if (script->others > 0 && monotonic_ns() < script->hold_ends_ns)
        return true;
    return sight->store_answers && sight->store_ns > script->stage_ns &&
           sight->store_ns < script->hold_ends_ns &&
           (!sight->lock.is_locked ||
            strcmp(sight->lock.owner, script->trouble->second_hold.owner) != 0);
}

/* The first one has an order of its own to make, unless it was caught after its commit. */
static void watch_third(struct lesson_script *script)
{
    int64_t own = script->fault == LESSON_GAP ? 0 : 1, count, left_ms;

    if (!count_orders(script, &count))
        return;
    script->held_ms = stage_ms(script);
    script->others = count - script->baseline > own ? count - script->baseline - own : 0;
    if (!script->is_deleted && is_deleted(script)) {
        script->is_deleted = true;
        journal_add(script->journal, JOURNAL_DELETED, script->first + 1, script->second + 1);
    }
    left_ms = (script->hold_ends_ns - monotonic_ns()) / 1000000;
    if (script->is_deleted ? script->others < MANY && script->held_ms < SELL_MS &&
                                 (script->others == 0 || left_ms > script->lease_ms / 4)
                           : left_ms > 0)
        return;
    if (!script->is_deleted || script->others == 0)
        script->missed = "too-late";
    let_second_go(script);
}

bool lesson_script_begin(struct lesson_script *script, const struct lesson *lesson)
{
    bool ok = true; /* nothing to arm is fine */

    script->fault = lesson->fault;
    script->lease_ms = lesson->lease_ms;
    script->is_over = lesson->fault == LESSON_CALM;
    script->missed = NULL;
    script->stage = 0;
    script->stage_ns = monotonic_ns();
    script->asked_ns = script->baseline = script->others = script->tried = script->held_ms = 0;
    script->first = script->second = -1;
    script->has_era = script->stayed_out = script->is_deleted = false;
    script->fence = 0;
    switch (script->fault) {
    case LESSON_CALM:
        break;
    case LESSON_CRASH:
        ok = arm(script, CRASH, "kill", -1);
        break;
    case LESSON_DELETE:
    case LESSON_GAP:
        ok = arm(script, first_point(script), "hold", -1);
        break;
    case LESSON_SLOW:
    case LESSON_FREEZE:
        ok = trouble_arm(script->trouble, fault_of(script), -1);
        break;
    }
    if (!ok)
        give_up(script, "nobody-caught");
    return ok;
}

void lesson_script_step(struct lesson_script *script)
{
    static void (*const steps[][3])(struct lesson_script *) = {
        [LESSON_CRASH] = {catch_dead, watch_dead, NULL},
        [LESSON_DELETE] = {catch_first, catch_second, watch_third},
        [LESSON_GAP] = {catch_first, catch_second, watch_third},
        [LESSON_SLOW] = {catch_one, watch_others, NULL},
        [LESSON_FREEZE] = {catch_one, watch_others, NULL},
    };

    if (!script->is_over)
        steps[script->fault][script->stage](script);
}

void lesson_script_end(struct lesson_script *script)
{
    if (!script->is_over)
        give_up(script, "stopped");
    else
        let_all_go(script);
}
