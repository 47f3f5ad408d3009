/* SPDX-License-Identifier: MIT */
/* trouble.c -- gives faults to the processes of the sale that is shown. */
#include "loadtest/show/trouble.h"

#include <signal.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "loadtest/kit/interrupt.h"

enum { CATCH_MS = 60000, LOOK_MS = 1000, STOP_MS = 10000, POLL_MS = 2, TRIES_MAX = 10, GO_ON_MS = 4,
       ROW_MS = 3000 };

/* Where a holder is caught. */
static const char POINT[] = "after-read";

static const char *const NAMES[] = {
#define X(id, name) name,
    SHOW_FAULTS(X)
#undef X
};

int trouble_find(const char *name)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (strcmp(NAMES[i], name) == 0)
            return i;
    return -1;
}

const char *trouble_name(int fault)
{
    return fault < SHOW_FAULT_COUNT ? NAMES[fault] : NULL;
}

bool trouble_is_any(const struct show_trouble *trouble)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (trouble->faults[i].state != SHOW_FAULT_OFF)
            return true;
    return trouble->has_second;
}

int trouble_of_process(const struct show_trouble *trouble, int process)
{
    if (trouble->faults[SHOW_FAULT_FREEZE].state == SHOW_FAULT_ON &&
        trouble->faults[SHOW_FAULT_FREEZE].process == process)
        return SHOW_FAULT_FREEZE;
    if (trouble->faults[SHOW_FAULT_SLOW].state == SHOW_FAULT_ON &&
        trouble->faults[SHOW_FAULT_SLOW].process == process)
        return SHOW_FAULT_SLOW;
    return trouble->has_second && trouble->second == process ? SHOW_FAULT_SLOW : -1;
}

const struct service_lock *trouble_hold_of(const struct show_trouble *trouble, int process)
{
    if (trouble->has_second && trouble->second == process)
        return &trouble->second_hold;
    return &trouble->faults[trouble_of_process(trouble, process)].hold;
}

const char *trouble_refuses(const struct show_trouble *trouble, enum show_fault fault)
{
    if (trouble->is_lesson)
        return "in-a-lesson";
    if (trouble->faults[fault].state != SHOW_FAULT_OFF)
        return NULL;
    if (!trouble->sale->is_loaded)
        return "nothing-runs";
    /* Two of them hold a thread at the same point, and one fault at a time can be followed. */
    return trouble_is_any(trouble) ? "another-fault" : NULL;
}

/* Can it answer: does it run, and is it not stopped? */
static bool answers(const struct service *s)
{
    char state = child_state(&s->child);

    return state != 0 && state != 'T';
}

/* Let everybody go who is held, and disarm all points. */
static void let_go(const struct show_trouble *trouble)
{
    for (int i = 0; i < trouble->sale->service_count; i++)
        if (answers(&trouble->sale->services[i]))
            (void)service_release(&trouble->sale->services[i], POINT);
}

static void look_at_hold(struct show_trouble *trouble, enum show_fault fault, int process)
{
    struct show_sale *sale = trouble->sale;

    if (!*sale->key || !service_look_lock_within(&sale->services[process], sale->key, LOOK_MS,
                                                 &trouble->faults[fault].hold))
        trouble->faults[fault].hold = (struct service_lock){.left_ms = -1};
}

static void fail(struct show_trouble *trouble, int process, const char *why)
{
    why_say(trouble->sale->why, "%s", why);
    journal_add(trouble->journal, JOURNAL_FAILED, process + 1, 0);
}

/* Has it stopped? */
static bool stop_process(const struct service *s)
{
    int64_t by_ns = monotonic_ns() + STOP_MS * INT64_C(1000000);

    child_signal(&s->child, SIGSTOP);
    while (child_state(&s->child) != 'T' && monotonic_ns() < by_ns &&
           interrupt_sleep_ms(POLL_MS))
        ;
    return child_state(&s->child) == 'T';
}

/* A thread was caught at the point in that process. */
static void begin(struct show_trouble *trouble, enum show_fault fault, int process)
{
    struct show_sale *sale = trouble->sale;

    for (int i = 0; i < sale->service_count; i++)
        if (i != process && answers(&sale->services[i]))
            (void)service_release(&sale->services[i], POINT);
    look_at_hold(trouble, fault, process);
    if (fault == SHOW_FAULT_FREEZE && !stop_process(&sale->services[process])) {
        child_signal(&sale->services[process].child, SIGCONT);
        trouble->faults[fault].state = SHOW_FAULT_OFF;
        let_go(trouble);
        fail(trouble, process, "the process did not stop");
        return;
    }
    trouble->faults[fault].state = SHOW_FAULT_ON;
    trouble->faults[fault].process = process;
    trouble->faults[fault].since_ns = monotonic_ns();
    trouble->faults[fault].tries = 0;
    journal_add(trouble->journal, fault == SHOW_FAULT_FREEZE ? JOURNAL_FROZEN : JOURNAL_SLOW,
                process + 1, (int64_t)trouble->faults[fault].hold.fence);
}

bool trouble_arm(struct show_trouble *trouble, enum show_fault fault, int process)
{
    struct show_sale *sale = trouble->sale;
    bool is_armed = false;

    for (int i = 0; i < sale->service_count; i++)
        if ((process < 0 || i == process) && answers(&sale->services[i]))
            is_armed = service_arm(&sale->services[i], POINT, "hold", sale->key) || is_armed;
    if (!is_armed) {
        fail(trouble, process, "no process took the fault: it is gone, stopped or does not answer");
        return false;
    }
    trouble->faults[fault].state = SHOW_FAULT_ARMED;
    trouble->faults[fault].process = process;
    trouble->faults[fault].since_ns = monotonic_ns();
    journal_add(trouble->journal, JOURNAL_ARMED, process + 1, 0);
    return true;
}

static void kill_process(struct show_trouble *trouble, int process)
{
    struct show_sale *sale = trouble->sale;
    struct service_lock lock;

    /* Without a chosen process, the process that holds the lock is killed, or else the first. */
    for (int i = 0; process < 0 && i < sale->service_count; i++) {
        if (*sale->key && answers(&sale->services[i]) &&
            service_look_lock_within(&sale->services[i], sale->key, LOOK_MS, &lock) &&
            lock.is_locked && *lock.system &&
            strncmp(lock.owner, lock.system, strlen(lock.system)) == 0)
            process = i;
    }
    if (process < 0)
        process = 0;
    child_signal(&sale->services[process].child, SIGKILL);
    (void)child_wait(&sale->services[process].child, STOP_MS, NULL);
    trouble->faults[SHOW_FAULT_KILL].state = SHOW_FAULT_ON;
    trouble->faults[SHOW_FAULT_KILL].process = process;
    trouble->faults[SHOW_FAULT_KILL].since_ns = monotonic_ns();
    journal_add(trouble->journal, JOURNAL_KILLED, process + 1, 0);
}

void trouble_take_back(struct show_trouble *trouble, enum show_fault fault)
{
    enum show_fault_state state = trouble->faults[fault].state;
    int process = trouble->faults[fault].process;
    int64_t begin_ns = monotonic_ns();

    trouble->faults[fault].state = SHOW_FAULT_OFF;
    trouble->over_ns = begin_ns;
    if (fault == SHOW_FAULT_KILL) {
        bool is_back = state == SHOW_FAULT_ON && show_sale_restart(trouble->sale, process);

        journal_add(trouble->journal, is_back ? JOURNAL_RESTARTED : JOURNAL_FAILED, process + 1,
                    (monotonic_ns() - begin_ns) / 1000000);
        return;
    }
    if (state == SHOW_FAULT_ON && fault == SHOW_FAULT_FREEZE)
        child_signal(&trouble->sale->services[process].child, SIGCONT);
    let_go(trouble);
    if (state == SHOW_FAULT_ON)
        journal_add(trouble->journal,
                    fault == SHOW_FAULT_FREEZE ? JOURNAL_CONTINUED : JOURNAL_SLOW_OVER, process + 1, 0);
}

void trouble_toggle(struct show_trouble *trouble, enum show_fault fault, int process)
{
    if (trouble->is_lesson)
        return;
    if (trouble->faults[fault].state != SHOW_FAULT_OFF)
        trouble_take_back(trouble, fault);
    else if (trouble_refuses(trouble, fault))
        return;
    else if (fault == SHOW_FAULT_KILL)
        kill_process(trouble, process);
    else
        (void)trouble_arm(trouble, fault, process);
}

/* A thread that was stopped may keep a row from everybody, which shows nothing of the lock:
 * the process goes on for a moment, each time for a longer one, and is stopped again. */
static void free_the_row(struct show_trouble *trouble)
{
    int process = trouble->faults[SHOW_FAULT_FREEZE].process;
    const struct service *s = &trouble->sale->services[process];
    bool blocked = false;

    if (trouble->faults[SHOW_FAULT_FREEZE].tries >= TRIES_MAX ||
        monotonic_ns() - trouble->faults[SHOW_FAULT_FREEZE].since_ns > ROW_MS * INT64_C(1000000) ||
        !audit_db_blocked_by(trouble->sale->db, s->name, &blocked) || !blocked)
        return;
    child_signal(&s->child, SIGCONT);
    interrupt_sleep_ms(GO_ON_MS << trouble->faults[SHOW_FAULT_FREEZE].tries++);
    (void)stop_process(s);
}

static void try_to_catch(struct show_trouble *trouble, enum show_fault fault)
{
    struct show_sale *sale = trouble->sale;
    int chosen = trouble->faults[fault].process;

    for (int i = 0; i < sale->service_count; i++) {
        bool held = false;

        if ((chosen < 0 || i == chosen) && answers(&sale->services[i]) &&
            service_is_holding(&sale->services[i], POINT, &held) && held) {
            begin(trouble, fault, i);
            return;
        }
    }
    if (monotonic_ns() - trouble->faults[fault].since_ns < CATCH_MS * INT64_C(1000000))
        return;
    trouble_take_back(trouble, fault);
    journal_add(trouble->journal, JOURNAL_MISSED, 0, 0);
}

void trouble_step(struct show_trouble *trouble)
{
    for (int i = SHOW_FAULT_FREEZE; i <= SHOW_FAULT_SLOW; i++)
        if (trouble->faults[i].state == SHOW_FAULT_ARMED)
            try_to_catch(trouble, (enum show_fault)i);
    if (trouble->faults[SHOW_FAULT_FREEZE].state == SHOW_FAULT_ON)
        free_the_row(trouble);
}

void trouble_heal(struct show_trouble *trouble)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (trouble->faults[i].state != SHOW_FAULT_OFF)
            trouble_take_back(trouble, (enum show_fault)i);
}
