/* SPDX-License-Identifier: MIT */
/* servers.c -- the thread that makes and undoes faults of servers. */
#include "loadtest/show/servers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"

enum { FAULTS_MAX = 32, BY_MS = 10000, LOOK_MS = 200 };

/* The thread's next task with a fault, and the end of its last one. */
enum wish { WISH_NONE, WISH_BEGIN, WISH_END };
enum end { END_NONE, END_BEGUN, END_OVER, END_STARTED, END_FAILED };

struct slot {
    struct show_server_fault shown, told; /* as it is; as it was when the journal was written */
    enum wish wish, doing; /* doing: what the thread is at                                */
    enum end end;
    struct fault_scene scene;
    char key[64], why[FAULT_NOTE_MAX], said[FAULT_NOTE_MAX];
};

struct show_servers {
    struct lab lab;
    struct show_journal *journal;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all that follows but the scenes, which are the thread's */
    pthread_cond_t changed;
    bool is_ending;
    int64_t looked_ns; /* when the servers were last looked at                            */
    pid_t told_pid;    /* the last process whose end is in the journal; 0: none           */
    struct slot slots[FAULTS_MAX];
};

/* The thread's: make the fault.  slot->said tells what happened, or why nothing did. */
static bool make(struct slot *slot, const struct server_fault *fault)
{
    char armed[FAULT_NOTE_MAX];

    slot->why[0] = '\0';
    if (server_fault_arm(fault, &slot->scene)) {
        snprintf(armed, sizeof armed, "%s", slot->scene.note);
        if (server_fault_begin(fault, &slot->scene)) {
            snprintf(slot->said, sizeof slot->said, "%s", slot->scene.note);
            if (server_fault_lasts(fault) || server_fault_disarm(fault, &slot->scene))
                return true;
        }
    }
    snprintf(slot->said, sizeof slot->said, "%s",
             *slot->why ? slot->why : "the terminal of `seckill show` says why");
    (void)server_fault_disarm(fault, &slot->scene);
    return false;
}

static bool undo(struct slot *slot, const struct server_fault *fault)
{
    bool ok;

    slot->why[0] = '\0';
    ok = server_fault_disarm(fault, &slot->scene);
    snprintf(slot->said, sizeof slot->said, "%s", ok ? slot->scene.note : slot->why);
    return ok;
}

/* The thread's: start a server that ended without a fault. */
static bool start_again(struct show_servers *servers, struct slot *slot, const char *name)
{
    const struct lab_server *server;
    bool ok;

    interrupt_defer(true);
    ok = lab_restart(&servers->lab, name) == EXIT_VALID;
    interrupt_defer(false);
    server = lab_find_server(&servers->lab, name);
    if (ok)
        snprintf(slot->said, sizeof slot->said, "%s: process %d answers on 127.0.0.1:%d%s", name,
                 (int)server->child.pid, server->port,
                 lab_server_kind(server) == LAB_IS_REDIS
                     ? ", without what was in its memory"
                     : "");
    else
        snprintf(slot->said, sizeof slot->said,
                 "%s was not started; the terminal of `seckill show` says why", name);
    return ok;
}

/* Carry out what one slot wishes, without the mutex meanwhile. */
static void carry_out(struct show_servers *servers, size_t i)
{
    struct slot *slot = &servers->slots[i];
    const struct server_fault *fault = server_fault_at(i);
    enum wish wish = slot->wish;
    struct show_server_fault was = slot->shown;
    bool ok;

    slot->wish = WISH_NONE;
    slot->doing = wish;
    pthread_mutex_unlock(&servers->mutex);
    ok = wish == WISH_BEGIN ? make(slot, fault)
         : was.has_ended    ? start_again(servers, slot, was.server)
                            : undo(slot, fault);
    pthread_mutex_lock(&servers->mutex);
    slot->doing = WISH_NONE;
    /* A request may have ended the fault while the fault was being made. */
    if (!ok || wish == WISH_END || !server_fault_lasts(fault))
        slot->wish = WISH_NONE;
    slot->end = !ok                  ? END_FAILED
                : wish == WISH_BEGIN ? END_BEGUN
                : was.has_ended      ? END_STARTED
                                     : END_OVER;
    slot->shown.has_ended = false;
    slot->shown.has_failed = !ok;
    slot->shown.state = slot->wish == WISH_END ? SHOW_SERVER_BUSY
                        : ok && wish == WISH_BEGIN && server_fault_lasts(fault)
                            ? SHOW_SERVER_SUFFERS
                            : SHOW_SERVER_WELL;
    slot->shown.since_ns = monotonic_ns();
    pthread_cond_broadcast(&servers->changed);
}

static void *work(void *arg)
{
    struct show_servers *servers = arg;
    bool did = true;

    pthread_mutex_lock(&servers->mutex);
    while (did || !servers->is_ending) {
        did = false;
        for (size_t i = 0; server_fault_at(i) && i < FAULTS_MAX; i++) {
            if (servers->slots[i].wish == WISH_NONE)
                continue;
            carry_out(servers, i);
            did = true;
        }
        if (!did && !servers->is_ending)
            pthread_cond_wait(&servers->changed, &servers->mutex);
    }
    pthread_mutex_unlock(&servers->mutex);
    return NULL;
}

struct show_servers *show_servers_new(const struct lab *lab, struct show_journal *journal)
{
    struct show_servers *servers = memory_need(calloc(1, sizeof *servers));

    servers->lab = *lab;
    servers->journal = journal;
    pthread_mutex_init(&servers->mutex, NULL);
    pthread_cond_init(&servers->changed, NULL);
    if (pthread_create(&servers->thread, NULL, work, servers) != 0)
        abort();
    return servers;
}

void show_servers_free(struct show_servers *servers, struct lab *lab)
{
    show_servers_heal(servers);
    pthread_mutex_lock(&servers->mutex);
    servers->is_ending = true;
    pthread_cond_broadcast(&servers->changed);
    pthread_mutex_unlock(&servers->mutex);
    pthread_join(servers->thread, NULL);
    memcpy(lab->servers, servers->lab.servers, sizeof lab->servers);
    lab->spare = servers->lab.spare;
    pthread_cond_destroy(&servers->changed);
    pthread_mutex_destroy(&servers->mutex);
    free(servers);
}

const char *show_servers_choose(const struct show_servers *servers, enum lab_role role,
                                const struct server_fault *fault)
{
    for (int i = 0; i < servers->lab.server_count; i++)
        if (servers->lab.servers[i].role == role &&
            server_fault_suits(fault, &servers->lab.servers[i]))
            return servers->lab.servers[i].name;
    return NULL;
}

bool show_servers_fits(struct show_servers *servers, const char *name,
                       const struct server_fault *fault)
{
    const struct lab_server *server = lab_find_server(&servers->lab, name);

    return server && server_fault_suits(fault, server);
}

enum lab_role show_servers_role(struct show_servers *servers, const char *name)
{
    const struct lab_server *server = lab_find_server(&servers->lab, name);

    return server ? server->role : LAB_ROLE_COUNT;
}

bool show_servers_suffers(struct show_servers *servers, const char *name)
{
    bool suffers = false;

    pthread_mutex_lock(&servers->mutex);
    for (int i = 0; i < FAULTS_MAX; i++)
        suffers = suffers || (servers->slots[i].shown.state != SHOW_SERVER_WELL &&
                              strcmp(servers->slots[i].shown.server, name) == 0);
    pthread_mutex_unlock(&servers->mutex);
    return suffers;
}

/* The default of by_ms: longer than any lease of a lesson. */
static int64_t by_default(const struct server_fault *fault)
{
    return fault->by_max_ms < BY_MS ? fault->by_max_ms : BY_MS;
}

void show_servers_begin(struct show_servers *servers, size_t i, const char *server,
                        const char *key, int64_t by_ms)
{
    struct slot *slot = &servers->slots[i];

    pthread_mutex_lock(&servers->mutex);
    snprintf(slot->shown.server, sizeof slot->shown.server, "%s", server);
    /* A fault that can do without a key would want the lock to be held just then. */
    snprintf(slot->key, sizeof slot->key, "%s", server_fault_at(i)->needs_key ? key : "");
    slot->scene = (struct fault_scene){.lab = &servers->lab,
                                       .server = lab_find_server(&servers->lab, server),
                                       .key = *slot->key ? slot->key : NULL,
                                       .by_ms = by_ms ? by_ms : by_default(server_fault_at(i)),
                                       .why = slot->why};
    slot->shown.state = SHOW_SERVER_BUSY;
    slot->shown.since_ns = monotonic_ns();
    slot->shown.has_ended = slot->shown.has_failed = false;
    slot->told = slot->shown;
    slot->wish = WISH_BEGIN;
    pthread_cond_broadcast(&servers->changed);
    pthread_mutex_unlock(&servers->mutex);
}

void show_servers_end(struct show_servers *servers, size_t i)
{
    struct slot *slot = &servers->slots[i];

    pthread_mutex_lock(&servers->mutex);
    if (slot->wish == WISH_BEGIN) {
        slot->wish = WISH_NONE; /* the thread has not begun yet */
        slot->shown.state = SHOW_SERVER_WELL;
    } else if (slot->doing == WISH_BEGIN || slot->shown.state == SHOW_SERVER_SUFFERS) {
        slot->wish = WISH_END;
        slot->shown.state = SHOW_SERVER_BUSY;
    } /* else it is being undone already, or is well */
    slot->told = slot->shown;
    pthread_cond_broadcast(&servers->changed);
    pthread_mutex_unlock(&servers->mutex);
}

struct show_server_fault show_servers_look(struct show_servers *servers, size_t i)
{
    struct show_server_fault shown;

    pthread_mutex_lock(&servers->mutex);
    shown = servers->slots[i].told;
    pthread_mutex_unlock(&servers->mutex);
    return shown;
}

/* No fault is there, and the thread has nothing to do: it may change no server. */
static bool are_all_well(const struct show_servers *servers)
{
    for (size_t i = 0; i < FAULTS_MAX; i++)
        if (servers->slots[i].wish != WISH_NONE || servers->slots[i].doing != WISH_NONE ||
            servers->slots[i].shown.state != SHOW_SERVER_WELL)
            return false;
    return true;
}

/* Has the server ended?  A process that another command started in its place answers. */
static bool has_ended(const struct show_servers *servers, const struct lab_server *server)
{
    return lab_server_kind(server) != LAB_IS_POSTGRES && !child_runs(&server->child) &&
           !lab_server_answers(&servers->lab, server);
}

/* The server has ended, and no fault did that. */
static void note_ended(struct show_servers *servers, const struct lab_server *server)
{
    char said[FAULT_NOTE_MAX];
    struct slot *slot;
    size_t i = 0;

    while (strcmp(server_fault_at(i)->name, "server-kill") != 0)
        i++;
    slot = &servers->slots[i];
    slot->shown = (struct show_server_fault){
        .state = SHOW_SERVER_SUFFERS, .since_ns = monotonic_ns(), .has_ended = true};
    snprintf(slot->shown.server, sizeof slot->shown.server, "%s", server->name);
    if (servers->told_pid == server->child.pid)
        return;
    servers->told_pid = server->child.pid;
    snprintf(said, sizeof said, "%s: process %d has ended, and 127.0.0.1:%d does not answer",
             server->name, (int)server->child.pid, server->port);
    journal_add_said(servers->journal, JOURNAL_SERVER_ENDED, server_fault_at(i)->name, said);
}

/* Look for a server that has ended; the first of several is told, the next when it runs again. */
static void find_ended(struct show_servers *servers)
{
    if (monotonic_ns() - servers->looked_ns < LOOK_MS * INT64_C(1000000) ||
        !are_all_well(servers))
        return;
    servers->looked_ns = monotonic_ns();
    for (int i = 0; i < servers->lab.server_count; i++)
        if (has_ended(servers, &servers->lab.servers[i])) {
            note_ended(servers, &servers->lab.servers[i]);
            return;
        }
}

bool show_servers_step(struct show_servers *servers)
{
    static const enum show_event events[] = {[END_BEGUN] = JOURNAL_SERVER_FAULT,
                                             [END_OVER] = JOURNAL_SERVER_WELL,
                                             [END_STARTED] = JOURNAL_SERVER_STARTED,
                                             [END_FAILED] = JOURNAL_FAILED};
    bool is_any = false;

    pthread_mutex_lock(&servers->mutex);
    find_ended(servers);
    for (size_t i = 0; server_fault_at(i) && i < FAULTS_MAX; i++) {
        struct slot *slot = &servers->slots[i];

        slot->told = slot->shown;
        is_any = is_any || slot->shown.state != SHOW_SERVER_WELL;
        if (slot->end == END_NONE)
            continue;
        journal_add_said(servers->journal, events[slot->end], server_fault_at(i)->name,
                         slot->said);
        slot->end = END_NONE;
    }
    pthread_mutex_unlock(&servers->mutex);
    return is_any;
}

void show_servers_heal(struct show_servers *servers)
{
    bool is_any = true;

    pthread_mutex_lock(&servers->mutex);
    while (is_any) {
        is_any = false;
        for (size_t i = 0; i < FAULTS_MAX; i++) {
            struct slot *slot = &servers->slots[i];

            is_any = is_any || slot->shown.state != SHOW_SERVER_WELL;
            if (slot->shown.state == SHOW_SERVER_SUFFERS) {
                slot->shown.state = SHOW_SERVER_BUSY;
                slot->wish = WISH_END;
                pthread_cond_broadcast(&servers->changed);
            }
        }
        if (is_any)
            pthread_cond_wait(&servers->changed, &servers->mutex);
    }
    pthread_mutex_unlock(&servers->mutex);
}
