/* SPDX-License-Identifier: MIT */
/* trouble.c -- which faults there are, which of them can be given, and their ends. */
#include "loadtest/show/trouble.h"

#include <string.h>

#include "base/text/duration.h"
#include "loadtest/expect/expectation.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/show/victims.h"
#include "lock/store.h"

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

static void toggle_server(struct show_faults *trouble, const struct trouble_wish *wish)
{
    size_t i = (size_t)(wish->fault - SHOW_FAULT_COUNT);
    const struct server_fault *fault = server_fault_at(i);

    trouble->are_servers_well = false;
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
        if (show_servers_look(trouble->servers, i).state != SHOW_SERVER_WELL)
            show_servers_end(trouble->servers, i);
    for (int i = 0; i < SHOW_FAULT_COUNT; i++)
        if (i != SHOW_FAULT_KILL && trouble->faults[i].state != SHOW_FAULT_OFF)
            victims_release(trouble, (enum show_fault)i);
    if (trouble->faults[SHOW_FAULT_KILL].state != SHOW_FAULT_OFF)
        victims_release(trouble, SHOW_FAULT_KILL);
}
