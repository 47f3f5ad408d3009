/* SPDX-License-Identifier: MIT */
/* servers.c -- the thread that makes and undoes faults of servers. */
#include "loadtest/show/servers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/memory.h"

enum { FAULTS_MAX = 32, BY_MS = 10000 };

/* The thread's next task with a fault, and the end of its last one. */
enum wish { WISH_NONE, WISH_BEGIN, WISH_END };
enum end { END_NONE, END_BEGUN, END_OVER, END_FAILED };

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

/* Carry out what one slot wishes, without the mutex meanwhile. */
static void carry_out(struct show_servers *servers, size_t i)
{
    struct slot *slot = &servers->slots[i];
    const struct server_fault *fault = server_fault_at(i);
    enum wish wish = slot->wish;
    bool ok;

    slot->wish = WISH_NONE;
    slot->doing = wish;
    pthread_mutex_unlock(&servers->mutex);
    ok = wish == WISH_BEGIN ? make(slot, fault) : undo(slot, fault);
    pthread_mutex_lock(&servers->mutex);
    slot->doing = WISH_NONE;
    /* A request may have ended the fault while the fault was being made. */
    if (!ok || wish == WISH_END || !server_fault_lasts(fault))
        slot->wish = WISH_NONE;
    slot->end = !ok ? END_FAILED : wish == WISH_BEGIN ? END_BEGUN : END_OVER;
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

static bool can_suffer(const struct lab_server *server, const struct server_fault *fault)
{
    return server_fault_suits(fault, server);
}

const char *show_servers_choose(const struct show_servers *servers, enum lab_role role,
                                const struct server_fault *fault)
{
    for (int i = 0; i < servers->lab.server_count; i++)
        if (servers->lab.servers[i].role == role && can_suffer(&servers->lab.servers[i], fault))
            return servers->lab.servers[i].name;
    return NULL;
}

static const struct lab_server *find(const struct show_servers *servers, const char *name)
{
    for (int i = 0; i < servers->lab.server_count; i++)
        if (strcmp(servers->lab.servers[i].name, name) == 0)
            return &servers->lab.servers[i];
    return NULL;
}

bool show_servers_fits(const struct show_servers *servers, const char *name,
                       const struct server_fault *fault)
{
    const struct lab_server *server = find(servers, name);

    return server && can_suffer(server, fault);
}

enum lab_role show_servers_role(const struct show_servers *servers, const char *name)
{
    const struct lab_server *server = find(servers, name);

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

/* By how much, unless somebody says so: longer than any lease of a lesson. */
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

bool show_servers_step(struct show_servers *servers)
{
    static const enum show_event events[] = {[END_BEGUN] = JOURNAL_SERVER_FAULT,
                                             [END_OVER] = JOURNAL_SERVER_WELL,
                                             [END_FAILED] = JOURNAL_FAILED};
    bool is_any = false;

    pthread_mutex_lock(&servers->mutex);
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
