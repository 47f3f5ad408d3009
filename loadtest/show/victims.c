/* SPDX-License-Identifier: MIT */
/* victims.c -- gives faults to the processes of the sale that is shown. */
#include "loadtest/show/victims.h"

#include <signal.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "loadtest/kit/interrupt.h"

enum { CATCH_MS = 60000, LOOK_MS = 1000, STOP_MS = 10000, POLL_MS = 2, TRIES_MAX = 10, GO_ON_MS = 4,
       ROW_MS = 3000 };

/* Where a thread is held by each fault; NULL: it holds none. */
static const char *const POINTS[] = {
#define X(id, name, point) point,
    SHOW_FAULTS(X)
#undef X
};

/* The events that the journal has for a fault, when it begins and when it is over. */
static const enum show_event BEGUN[] = {[SHOW_FAULT_FREEZE] = JOURNAL_FROZEN,
                                        [SHOW_FAULT_SLOW] = JOURNAL_SLOW,
                                        [SHOW_FAULT_GAP] = JOURNAL_GAP,
                                        [SHOW_FAULT_KILL] = JOURNAL_KILLED,
                                        [SHOW_FAULT_CUT] = JOURNAL_CUT},
                             OVER[] = {[SHOW_FAULT_FREEZE] = JOURNAL_CONTINUED,
                                       [SHOW_FAULT_SLOW] = JOURNAL_SLOW_OVER,
                                       [SHOW_FAULT_GAP] = JOURNAL_GAP_OVER,
                                       [SHOW_FAULT_CUT] = JOURNAL_MENDED};

bool victims_is_stopped(const struct show_faults *trouble, int process)
{
    return child_state(&trouble->sale->services[process].child) == 'T';
}

bool victims_has_process(const struct show_faults *trouble)
{
    for (int i = 0; i < trouble->sale->service_count; i++)
        if (child_runs(&trouble->sale->services[i].child))
            return true;
    return false;
}

/* Do both hold threads at the same point? */
static bool share_point(enum show_fault a, enum show_fault b)
{
    return POINTS[a] && POINTS[b] && strcmp(POINTS[a], POINTS[b]) == 0;
}

bool victims_point_waits(const struct show_faults *trouble, enum show_fault fault)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (i != (int)fault && share_point((enum show_fault)i, fault) &&
            trouble->faults[i].state == SHOW_FAULT_ARMED)
            return true;
    return false;
}

bool victims_point_holds(const struct show_faults *trouble, enum show_fault fault, int process)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (i != (int)fault && share_point((enum show_fault)i, fault) &&
            trouble->faults[i].state == SHOW_FAULT_ON && trouble->faults[i].process == process)
            return true;
    return false;
}

/* May the fault be armed in that process, when `chosen` is asked for? */
static bool is_candidate(const struct show_faults *trouble, enum show_fault fault, int chosen,
                         int process)
{
    return (chosen < 0 || process == chosen) &&
           child_works(&trouble->sale->services[process].child) &&
           !victims_point_holds(trouble, fault, process);
}

bool victims_has_candidate(const struct show_faults *trouble, enum show_fault fault,
                           int process)
{
    for (int i = 0; i < trouble->sale->service_count; i++)
        if (is_candidate(trouble, fault, process, i))
            return true;
    return false;
}

/* Let go who is held at the fault's point by nobody else, in every process but one (-1: in
 * all), and disarm the point there. */
static void let_go(const struct show_faults *trouble, enum show_fault fault, int but)
{
    for (int i = 0; i < trouble->sale->service_count; i++)
        if (i != but && is_candidate(trouble, fault, -1, i))
            (void)service_release(&trouble->sale->services[i], POINTS[fault]);
}

static void fail(struct show_faults *trouble, enum show_fault fault, const char *why)
{
    static const char *const NAMES[] = {
#define X(id, name, point) name,
        SHOW_FAULTS(X)
#undef X
    };

    journal_add_said(trouble->journal, JOURNAL_FAILED, NAMES[fault], why);
}

/* Stop the process, and wait for that.  Answers whether it has stopped. */
static bool stop_process(const struct service *s)
{
    int64_t by_ns = monotonic_ns() + STOP_MS * INT64_C(1000000);

    child_signal(&s->child, SIGSTOP);
    while (child_state(&s->child) != 'T' && monotonic_ns() < by_ns &&
           interrupt_sleep_ms(POLL_MS))
        ;
    return child_state(&s->child) == 'T';
}

/* The fault has happened to that process. */
static void note_begun(struct show_faults *trouble, enum show_fault fault, int process,
                       uint64_t fence)
{
    trouble->faults[fault].state = SHOW_FAULT_ON;
    trouble->faults[fault].process = process;
    trouble->faults[fault].since_ns = monotonic_ns();
    trouble->faults[fault].tries = 0;
    journal_add(trouble->journal, BEGUN[fault], process + 1, (int64_t)fence);
}

/* A thread was caught at the point in that process. */
static void begin(struct show_faults *trouble, enum show_fault fault, int process)
{
    const struct service *s = &trouble->sale->services[process];

    let_go(trouble, fault, process);
    show_sale_look_at_lock(trouble->sale, process, &trouble->faults[fault].hold);
    if (fault == SHOW_FAULT_FREEZE && !stop_process(s)) {
        child_signal(&s->child, SIGCONT);
        trouble->faults[fault].state = SHOW_FAULT_OFF;
        let_go(trouble, fault, -1);
        fail(trouble, fault, "the process did not stop");
        return;
    }
    note_begun(trouble, fault, process, trouble->faults[fault].hold.fence);
}

/* Freeze a process whose holder is held already. */
static void freeze_slow(struct show_faults *trouble, int process)
{
    struct trouble_fault *freeze = &trouble->faults[SHOW_FAULT_FREEZE];

    freeze->hold = trouble->faults[SHOW_FAULT_SLOW].hold;
    freeze->is_borrowed = true;
    if (stop_process(&trouble->sale->services[process])) {
        note_begun(trouble, SHOW_FAULT_FREEZE, process, freeze->hold.fence);
    } else {
        child_signal(&trouble->sale->services[process].child, SIGCONT);
        fail(trouble, SHOW_FAULT_FREEZE, "the process did not stop");
    }
}

static void arm(struct show_faults *trouble, enum show_fault fault, int process)
{
    struct show_sale *sale = trouble->sale;
    bool is_armed = false;

    trouble->faults[fault].is_borrowed = false;
    for (int i = 0; i < sale->service_count; i++)
        if (is_candidate(trouble, fault, process, i))
            is_armed =
                service_arm(&sale->services[i], POINTS[fault], "hold", sale->key) || is_armed;
    if (!is_armed) {
        fail(trouble, fault, "no process took the fault: it is gone, stopped or does not answer");
        return;
    }
    trouble->faults[fault].state = SHOW_FAULT_ARMED;
    trouble->faults[fault].process = process;
    trouble->faults[fault].since_ns = monotonic_ns();
    journal_add(trouble->journal, JOURNAL_ARMED, process + 1, 0);
}

/* The process that holds the lock, or else the first that runs. */
static int find_holder(const struct show_faults *trouble)
{
    const struct show_sale *sale = trouble->sale;
    struct service_lock lock;
    int first = -1;

    for (int i = 0; i < sale->service_count; i++) {
        if (first < 0 && child_runs(&sale->services[i].child))
            first = i;
        if (*sale->key && child_works(&sale->services[i].child) &&
            service_look_lock_within(&sale->services[i], sale->key, LOOK_MS, &lock) &&
            lock.is_locked && *lock.system &&
            strncmp(lock.owner, lock.system, strlen(lock.system)) == 0)
            return i;
    }
    return first;
}

static void kill_process(struct show_faults *trouble, int process)
{
    child_signal(&trouble->sale->services[process].child, SIGKILL);
    (void)child_wait(&trouble->sale->services[process].child, STOP_MS, NULL);
    /* A fault that held a thread of the process holds nothing any more. */
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (POINTS[i] && trouble->faults[i].state == SHOW_FAULT_ON &&
            trouble->faults[i].process == process)
            trouble->faults[i].state = SHOW_FAULT_OFF;
    note_begun(trouble, SHOW_FAULT_KILL, process, 0);
}

static void cut_wire(struct show_faults *trouble, int process)
{
    char why[WHY_MAX];

    if (show_wires_cut(&trouble->sale->wires, process, why))
        note_begun(trouble, SHOW_FAULT_CUT, process, 0);
    else
        fail(trouble, SHOW_FAULT_CUT, why);
}

static void restart(struct show_faults *trouble, int process)
{
    int64_t begin_ns = monotonic_ns();

    if (show_sale_restart(trouble->sale, process))
        journal_add(trouble->journal, JOURNAL_RESTARTED, process + 1,
                    (monotonic_ns() - begin_ns) / 1000000);
    else
        fail(trouble, SHOW_FAULT_KILL, trouble->sale->why);
}

/* A process may be gone without a fault, because its program was killed from outside. */
void victims_take(struct show_faults *trouble, enum show_fault fault, int process)
{
    const struct trouble_fault *slow = &trouble->faults[SHOW_FAULT_SLOW];

    if (fault == SHOW_FAULT_KILL && process >= 0 &&
        !child_runs(&trouble->sale->services[process].child))
        restart(trouble, process);
    else if (fault == SHOW_FAULT_KILL)
        kill_process(trouble, process < 0 ? find_holder(trouble) : process);
    else if (fault == SHOW_FAULT_CUT)
        cut_wire(trouble, process < 0 ? find_holder(trouble) : process);
    else if (fault == SHOW_FAULT_FREEZE && slow->state == SHOW_FAULT_ON &&
             slow->process == process)
        freeze_slow(trouble, process);
    else
        arm(trouble, fault, process);
}

void victims_release(struct show_faults *trouble, enum show_fault fault)
{
    struct trouble_fault *f = &trouble->faults[fault];
    bool was_on = f->state == SHOW_FAULT_ON;

    f->state = SHOW_FAULT_OFF;
    trouble->over_ns = monotonic_ns();
    if (fault == SHOW_FAULT_KILL) {
        restart(trouble, f->process);
        return;
    }
    if (fault == SHOW_FAULT_CUT)
        show_wires_mend(&trouble->sale->wires, f->process);
    if (fault == SHOW_FAULT_FREEZE && was_on)
        child_signal(&trouble->sale->services[f->process].child, SIGCONT);
    if (POINTS[fault] && !(fault == SHOW_FAULT_FREEZE && f->is_borrowed)) {
        /* Another fault may wait at the same point in other processes. */
        if (was_on)
            (void)service_release(&trouble->sale->services[f->process], POINTS[fault]);
        else
            let_go(trouble, fault, -1);
    }
    if (was_on)
        journal_add(trouble->journal, OVER[fault], f->process + 1, 0);
}

/* A stopped thread may hold a row lock in the database, which blocks all processes and shows
 * nothing of the lock.  Then the process goes on for a moment, each time for a longer one, and is
 * stopped again. */
static void free_the_row(struct show_faults *trouble)
{
    struct trouble_fault *freeze = &trouble->faults[SHOW_FAULT_FREEZE];
    const struct service *s = &trouble->sale->services[freeze->process];
    bool blocked = false;

    if (freeze->tries >= TRIES_MAX ||
        monotonic_ns() - freeze->since_ns > ROW_MS * INT64_C(1000000) ||
        !audit_db_blocked_by(trouble->sale->db, s->name, &blocked) || !blocked)
        return;
    child_signal(&s->child, SIGCONT);
    interrupt_sleep_ms(GO_ON_MS << freeze->tries++);
    (void)stop_process(s);
}

static void try_to_catch(struct show_faults *trouble, enum show_fault fault)
{
    struct show_sale *sale = trouble->sale;
    int chosen = trouble->faults[fault].process;

    for (int i = 0; i < sale->service_count; i++) {
        bool held = false;

        if (is_candidate(trouble, fault, chosen, i) &&
            service_is_holding(&sale->services[i], POINTS[fault], &held) && held) {
            begin(trouble, fault, i);
            return;
        }
    }
    if (monotonic_ns() - trouble->faults[fault].since_ns < CATCH_MS * INT64_C(1000000))
        return;
    victims_release(trouble, fault);
    journal_add(trouble->journal, JOURNAL_MISSED, 0, 0);
}

void victims_step(struct show_faults *trouble)
{
    for (int i = SHOW_FAULT_FREEZE; i <= SHOW_FAULT_GAP; i++)
        if (trouble->faults[i].state == SHOW_FAULT_ARMED)
            try_to_catch(trouble, (enum show_fault)i);
    if (trouble->faults[SHOW_FAULT_FREEZE].state == SHOW_FAULT_ON)
        free_the_row(trouble);
}
