/* SPDX-License-Identifier: MIT */
/* trouble.c -- which faults there are, which of them can be given, and their ends. */
#include "loadtest/show/trouble.h"

#include <signal.h>
#include <string.h>

#include "base/text/duration.h"
#include "db/audit.h"
#include "loadtest/expect/expectation.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/show/met.h"
#include "lock/store.h"

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

/* Is the process stopped by a signal? */
static bool victims_is_stopped(const struct show_faults *trouble, int process)
{
    return child_state(&trouble->sale->services[process].child) == 'T';
}

/* Does any process run? */
static bool victims_has_process(const struct show_faults *trouble)
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

/* Does another fault wait at the point of this one? */
static bool victims_point_waits(const struct show_faults *trouble, enum show_fault fault)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (i != (int)fault && share_point((enum show_fault)i, fault) &&
            trouble->faults[i].state == SHOW_FAULT_ARMED)
            return true;
    return false;
}

/* Does another fault hold a thread of the process at the point of this one? */
static bool victims_point_holds(const struct show_faults *trouble, enum show_fault fault,
                                int process)
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

/* Can this fault be armed in the chosen process, or, for -1, in any process? */
static bool victims_has_candidate(const struct show_faults *trouble, enum show_fault fault,
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
    journal_add_said(trouble->journal, JOURNAL_FAILED, trouble_name((int)fault), why);
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
    if (fault == SHOW_FAULT_FREEZE)
        met_read(trouble);
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
    met_read(trouble);
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
    met_kill(trouble, trouble_name(SHOW_FAULT_KILL), process);
}

static void cut_wire(struct show_faults *trouble, int process)
{
    char why[WHY_MAX];

    met_begin(trouble, &trouble->met[SHOW_FAULT_CUT], trouble_name(SHOW_FAULT_CUT), false);
    if (show_wires_cut(&trouble->sale->wires, process, why)) {
        note_begun(trouble, SHOW_FAULT_CUT, process, 0);
    } else {
        trouble->met[SHOW_FAULT_CUT].due_ns = 0;
        fail(trouble, SHOW_FAULT_CUT, why);
    }
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
static void victims_take(struct show_faults *trouble, enum show_fault fault, int process)
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

/* Take the fault back, which is not off. */
static void victims_release(struct show_faults *trouble, enum show_fault fault)
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

/* Ask whether a thread has reached the point of an armed fault, and go on with the fault. */
static void victims_step(struct show_faults *trouble)
{
    for (int i = SHOW_FAULT_FREEZE; i <= SHOW_FAULT_GAP; i++)
        if (trouble->faults[i].state == SHOW_FAULT_ARMED)
            try_to_catch(trouble, (enum show_fault)i);
    if (trouble->faults[SHOW_FAULT_FREEZE].state == SHOW_FAULT_ON)
        free_the_row(trouble);
}

static const char *const NAMES[] = {
#define X(id, name, point) name,
    SHOW_FAULTS(X)
#undef X
};

enum refusal {
    REFUSED_NOT,
#define X(id, code, text) REFUSED_##id,
    SHOW_REFUSALS(X)
#undef X
};

static const struct show_refusal REFUSALS[] = {
#define X(id, code, text) [REFUSED_##id] = {text, code},
    SHOW_REFUSALS(X)
#undef X
};

int trouble_find(const char *name)
{
    const char *known;

    for (int i = 0; (known = trouble_name(i)) != NULL; i++)
        if (strcmp(known, name) == 0)
            return i;
    return -1;
}

const char *trouble_name(int fault)
{
    return fault < SHOW_FAULT_COUNT ? NAMES[fault]
                                    : server_fault_name_at((size_t)(fault - SHOW_FAULT_COUNT));
}

struct trouble_look trouble_look(const struct show_faults *trouble, int fault)
{
    static const enum show_fault_state states[] = {[SHOW_SERVER_WELL] = SHOW_FAULT_OFF,
                                                   [SHOW_SERVER_BUSY] = SHOW_FAULT_BUSY,
                                                   [SHOW_SERVER_SUFFERS] = SHOW_FAULT_ON};
    struct show_server_fault server;
    struct trouble_look look = {.process = -1};

    if (fault < SHOW_FAULT_COUNT) {
        look.state = trouble->faults[fault].state;
        look.process = look.state == SHOW_FAULT_OFF ? -1 : trouble->faults[fault].process;
        look.since_ns = trouble->faults[fault].since_ns;
        return look;
    }
    server = show_servers_look(trouble->servers, (size_t)(fault - SHOW_FAULT_COUNT));
    look.state = states[server.state];
    look.since_ns = server.since_ns;
    look.has_ended = server.has_ended;
    look.has_failed = server.has_failed;
    if (server.state != SHOW_SERVER_WELL)
        memcpy(look.server, server.server, sizeof look.server);
    return look;
}

bool trouble_is_any(const struct show_faults *trouble)
{
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (trouble->faults[i].state != SHOW_FAULT_OFF)
            return true;
    return trouble->has_second || !trouble->are_servers_well;
}

int trouble_of_process(const struct show_faults *trouble, int process)
{
    for (int i = SHOW_FAULT_FREEZE; i <= SHOW_FAULT_GAP; i++)
        if (trouble->faults[i].state == SHOW_FAULT_ON && trouble->faults[i].process == process)
            return i;
    return trouble->has_second && trouble->second == process ? SHOW_FAULT_SLOW : -1;
}

const struct service_lock *trouble_hold_of(const struct show_faults *trouble, int process)
{
    if (trouble->has_second && trouble->second == process)
        return &trouble->second_hold;
    return &trouble->faults[trouble_of_process(trouble, process)].hold;
}

static enum lab_role role_of(const struct show_faults *trouble)
{
    return lab_store_role(dlock_store_of(dlock_variant_find(trouble->sale->switches.lock)));
}

static bool store_suffers(const struct show_faults *trouble)
{
    for (size_t i = 0; server_fault_at(i); i++) {
        struct show_server_fault f = show_servers_look(trouble->servers, i);

        if (f.state != SHOW_SERVER_WELL &&
            show_servers_role(trouble->servers, f.server) == role_of(trouble))
            return true;
    }
    return false;
}

/* Of the start of a process that is gone.  Without its lock's server it would wait in vain. */
static enum refusal refuses_start(const struct show_faults *trouble, int process)
{
    const struct trouble_fault *cut = &trouble->faults[SHOW_FAULT_CUT];
    bool is_cut = cut->state != SHOW_FAULT_OFF && cut->process == process;

    return is_cut || store_suffers(trouble) ? REFUSED_NO_STORE : REFUSED_NOT;
}

/* Of a fault that is there. */
static enum refusal refuses_end(const struct show_faults *trouble, enum show_fault fault)
{
    const struct trouble_fault *f = &trouble->faults[fault];

    if (fault == SHOW_FAULT_KILL)
        return refuses_start(trouble, f->process);
    if (fault != SHOW_FAULT_FREEZE && fault != SHOW_FAULT_CUT && f->state == SHOW_FAULT_ON &&
        victims_is_stopped(trouble, f->process))
        return REFUSED_STOPPED;
    return REFUSED_NOT;
}

/* Of a fault that needs a thread at a point. */
static enum refusal refuses_thread(const struct show_faults *trouble, enum show_fault fault,
                                   int process)
{
    const struct trouble_fault *slow = &trouble->faults[SHOW_FAULT_SLOW];

    if (fault == SHOW_FAULT_GAP &&
        !lock_has_check_gap(dlock_variant_find(trouble->sale->switches.lock)))
        return REFUSED_NO_GAP;
    if (fault == SHOW_FAULT_FREEZE && slow->state == SHOW_FAULT_ON && slow->process == process)
        return REFUSED_NOT;
    if (victims_point_waits(trouble, fault))
        return REFUSED_WAITS;
    if (process >= 0 && victims_is_stopped(trouble, process))
        return REFUSED_STOPPED;
    if (process >= 0 && victims_point_holds(trouble, fault, process))
        return REFUSED_HELD;
    return victims_has_candidate(trouble, fault, process) ? REFUSED_NOT : REFUSED_HELD;
}

static enum refusal refuses_process(const struct show_faults *trouble, enum show_fault fault,
                                    int process)
{
    if (trouble->faults[fault].state != SHOW_FAULT_OFF)
        return refuses_end(trouble, fault);
    if (process >= 0 && !child_runs(&trouble->sale->services[process].child))
        return fault == SHOW_FAULT_KILL ? refuses_start(trouble, process) : REFUSED_GONE;
    if (fault == SHOW_FAULT_KILL)
        return victims_has_process(trouble) ? REFUSED_NOT : REFUSED_GONE;
    if (fault == SHOW_FAULT_CUT)
        return !trouble->sale->has_wires      ? REFUSED_NO_WIRE
               : victims_has_process(trouble) ? REFUSED_NOT
                                              : REFUSED_GONE;
    return refuses_thread(trouble, fault, process);
}

/* The server that is to suffer; NULL: there is none. */
static const char *server_for(const struct show_faults *trouble, const struct trouble_wish *wish,
                              const struct server_fault *fault)
{
    if (!wish->server || !*wish->server)
        return show_servers_choose(trouble->servers, role_of(trouble), fault);
    return show_servers_fits(trouble->servers, wish->server, fault) ? wish->server : NULL;
}

static enum refusal refuses_server(const struct show_faults *trouble,
                                   const struct trouble_wish *wish)
{
    size_t i = (size_t)(wish->fault - SHOW_FAULT_COUNT);
    const struct server_fault *fault = server_fault_at(i);
    struct show_server_fault there = show_servers_look(trouble->servers, i);
    const char *server = server_for(trouble, wish, fault);

    if (there.state == SHOW_SERVER_BUSY)
        return REFUSED_BUSY;
    if (there.state == SHOW_SERVER_SUFFERS)
        return REFUSED_NOT;
    if (!server)
        return REFUSED_NO_SERVER;
    if (lab_role_kind(show_servers_role(trouble->servers, server)) == LAB_IS_POSTGRES &&
        !fault->spares_others)
        return REFUSED_JUDGE;
    if (fault->needs_key && !*trouble->sale->key)
        return REFUSED_NO_KEY;
    if (wish->by_ms && !server_fault_takes(fault, wish->by_ms))
        return REFUSED_NO_TIME;
    return show_servers_suffers(trouble->servers, server) ? REFUSED_SERVER_BUSY : REFUSED_NOT;
}

struct show_refusal trouble_nothing_runs(void)
{
    return REFUSALS[REFUSED_NOTHING_RUNS];
}

struct show_refusal trouble_in_a_lesson(void)
{
    return REFUSALS[REFUSED_LESSON];
}

struct show_refusal trouble_refuses(const struct show_faults *trouble,
                                    const struct trouble_wish *wish)
{
    enum refusal refusal;

    if (trouble->is_lesson)
        refusal = REFUSED_LESSON;
    else if (!trouble->sale->is_loaded)
        refusal = REFUSED_NOTHING_RUNS;
    else if (wish->fault < SHOW_FAULT_COUNT)
        refusal = refuses_process(trouble, (enum show_fault)wish->fault, wish->process);
    else
        refusal = refuses_server(trouble, wish);
    return REFUSALS[refusal];
}

/* A server's fault is about to be made or undone.  A server that ended by itself suffered none. */
static void begin_met(struct show_faults *trouble, int fault)
{
    struct trouble_look look = trouble_look(trouble, fault);

    if (!look.has_ended)
        met_begin(trouble, &trouble->met[fault], trouble_name(fault),
                  look.state == SHOW_FAULT_ON);
}

static void toggle_server(struct show_faults *trouble, const struct trouble_wish *wish)
{
    size_t i = (size_t)(wish->fault - SHOW_FAULT_COUNT);
    const struct server_fault *fault = server_fault_at(i);

    trouble->are_servers_well = false;
    begin_met(trouble, wish->fault);
    if (show_servers_look(trouble->servers, i).state == SHOW_SERVER_SUFFERS) {
        trouble->over_ns = monotonic_ns();
        show_servers_end(trouble->servers, i);
    } else {
        show_servers_begin(trouble->servers, i, server_for(trouble, wish, fault),
                           trouble->sale->key, wish->by_ms);
    }
}

void trouble_toggle(struct show_faults *trouble, const struct trouble_wish *wish)
{
    if (wish->fault >= SHOW_FAULT_COUNT)
        toggle_server(trouble, wish);
    else if (trouble->faults[wish->fault].state != SHOW_FAULT_OFF)
        victims_release(trouble, (enum show_fault)wish->fault);
    else
        victims_take(trouble, (enum show_fault)wish->fault, wish->process);
}

bool trouble_arm(struct show_faults *trouble, enum show_fault fault, int process)
{
    victims_take(trouble, fault, process);
    return trouble->faults[fault].state != SHOW_FAULT_OFF;
}

void trouble_take_back(struct show_faults *trouble, enum show_fault fault)
{
    victims_release(trouble, fault);
}

void trouble_step(struct show_faults *trouble)
{
    trouble->are_servers_well = !show_servers_step(trouble->servers);
    victims_step(trouble);
    for (int i = 0; i < SHOW_FAULTS_MAX; i++) {
        struct trouble_look look;

        if (trouble->met[i].due_ns == 0)
            continue;
        look = trouble_look(trouble, i);
        if (trouble->met[i].due_ns < 0 && look.has_failed)
            trouble->met[i].due_ns = 0;
        else if (look.state != SHOW_FAULT_BUSY)
            met_step(trouble, &trouble->met[i]);
    }
}

void trouble_leave(struct show_faults *trouble)
{
    /* Its place in the next sale is taken by another process. */
    trouble->faults[SHOW_FAULT_KILL].state = SHOW_FAULT_OFF;
    trouble_heal(trouble);
}

/* A killed process is started last, because it takes a lock before it serves, for which it needs
 * the servers and its wire. */
void trouble_heal(struct show_faults *trouble)
{
    for (size_t i = 0; server_fault_at(i); i++)
        if (show_servers_look(trouble->servers, i).state != SHOW_SERVER_WELL) {
            begin_met(trouble, SHOW_FAULT_COUNT + (int)i);
            show_servers_end(trouble->servers, i);
        }
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (i != SHOW_FAULT_KILL && trouble->faults[i].state != SHOW_FAULT_OFF)
            victims_release(trouble, (enum show_fault)i);
    if (trouble->faults[SHOW_FAULT_KILL].state != SHOW_FAULT_OFF)
        victims_release(trouble, SHOW_FAULT_KILL);
}
