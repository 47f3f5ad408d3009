/* SPDX-License-Identifier: MIT */
/* server_fault.c -- the stages of a fault, in their order. */
#include "loadtest/fault/server_fault.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/utf8.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/shell.h"
#include "loadtest/probe/redis_connection.h"

enum { RECORD_NAME_MAX = 64 };

bool server_fault_lasts(const struct server_fault *fault)
{
    return fault->end != NULL;
}

bool server_fault_suits(const struct server_fault *fault, const struct lab_server *server)
{
    return (fault->servers & FAULT_ON(lab_server_kind(server))) != 0 &&
           (fault->topologies == 0 ||
            (fault->topologies & 1u << lab_role_topology(server->role)) != 0);
}

struct lab_server *server_fault_aim(const struct server_fault *fault, struct lab *lab)
{
    for (unsigned t = 0; t < LAB_TOPOLOGY_COUNT; t++) {
        struct lab_server *leader = fault->topologies & 1u << t
                                        ? lab_topology_leader(lab, (enum lab_topology)t)
                                        : NULL;

        if (leader)
            return leader;
    }
    for (int i = 0; i < lab->server_count; i++) {
        struct lab_server *server = &lab->servers[i];

        if (server_fault_suits(fault, server) &&
            (fault->topologies == 0 ||
             !lab_topology_has_leaders(lab_role_topology(server->role))))
            return server;
    }
    return NULL;
}

bool server_fault_complain(const struct fault_scene *scene, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (scene->why) {
        vsnprintf(scene->why, FAULT_NOTE_MAX, fmt, args);
    } else {
        eprintf("seckill: %s: ", scene->server ? scene->server->name : "the lab");
        veprintf(fmt, args);
        fputc('\n', stderr);
    }
    va_end(args);
    return false;
}

void server_fault_note(struct fault_scene *scene, const char *fmt, ...)
{
    size_t used = strlen(scene->note);
    char text[FAULT_NOTE_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    utf8_show(text, scene->note + used, sizeof scene->note - used);
}

void *server_fault_state(struct fault_scene *scene, size_t size)
{
    if (!scene->state)
        scene->state = calloc(1, size);
    if (!scene->state)
        abort();
    return scene->state;
}

lab_db *server_fault_database(struct fault_scene *scene)
{
    char url[LAB_DATABASE_URL_MAX], error[512];

    lab_db_close(scene->db);
    lab_database_url(scene->lab, url, sizeof url);
    if (!lab_db_open(&scene->db, url, error, sizeof error))
        server_fault_complain(scene, "%s", error);
    return scene->db;
}

bool server_fault_kill(struct fault_scene *scene)
{
    int pid = (int)scene->server->child.pid;

    scene->is_down = true;
    return lab_server_kill(scene->lab, scene->server) ||
           server_fault_complain(scene, "process %d was killed and still runs", pid);
}

bool server_fault_bring_up(struct fault_scene *scene)
{
    if (scene->is_down && !child_runs(&scene->server->child) &&
        !lab_server_bring_up(scene->lab, scene->server))
        return false;
    scene->is_down = false;
    return true;
}

/* The servers of this lab that the fault can be given to. */
static bool complain_of_server(const struct server_fault *fault,
                               const struct fault_scene *scene, const char *what)
{
    const struct lab *lab = scene->lab;
    char dir[SHELL_WORD_MAX];

    shell_word(dir, lab->dir);
    eprintf("seckill: %s %s; it can be made on:", fault->name, what);
    for (int i = 0; i < lab->server_count; i++) {
        if (server_fault_suits(fault, &lab->servers[i]))
            eprintf(" %s", lab->servers[i].name);
    }
    for (unsigned t = 0; t < LAB_TOPOLOGY_COUNT; t++)
        if ((fault->topologies & 1u << t) != 0 && !lab_has(lab, 1u << t))
            eprintf("\n  start what this lab has not: seckill lab up --%s --dir=%s",
                    lab_topology_flag((enum lab_topology)t), dir);
    if (fault->servers == FAULT_ON(LAB_IS_ZOOKEEPER) && !lab_has(lab, LAB_WITH(ZOOKEEPER)) &&
        !lab_has(lab, LAB_WITH(ENSEMBLE)))
        eprintf(" zookeeper, which this lab has not\n"
                "  start one: seckill lab up --zookeeper --dir=%s", dir);
    fputc('\n', stderr);
    return false;
}

bool server_fault_takes(const struct server_fault *fault, int64_t by_ms)
{
    return by_ms >= fault->by_min_ms && by_ms <= fault->by_max_ms &&
           (fault->by_over_ms == 0 || llabs(by_ms) > fault->by_over_ms);
}

static bool complain_of_by(const struct server_fault *fault, const struct fault_scene *scene)
{
    char over[64] = "";

    if (!fault->by_example)
        return server_fault_complain(scene, "%s takes no --by", fault->name);
    if (fault->by_over_ms > 0)
        snprintf(over, sizeof over, ", and farther than %" PRId64 " ms from 0", fault->by_over_ms);
    return server_fault_complain(
        scene,
        "%s needs a --by within %" PRId64 " and %" PRId64 " ms%s, such as %s; it is %" PRId64
        " ms%s",
        fault->name, fault->by_min_ms, fault->by_max_ms, over, fault->by_example, scene->by_ms,
        scene->by_ms == 0 ? " or not given" : "");
}

bool server_fault_fits(const struct server_fault *fault,
                       const struct fault_scene *scene)
{
    char dir[SHELL_WORD_MAX];

    if (!scene->server)
        return complain_of_server(fault, scene, "needs a server that this lab has");
    if (!server_fault_suits(fault, scene->server))
        return complain_of_server(fault, scene, "is not for that server");
    if (!child_runs(&scene->server->child))
        return server_fault_complain(
            scene, "it does not run, so nothing can happen to it\n"
                   "  start it: seckill lab restart %s --dir=%s",
            scene->server->name, shell_word(dir, scene->lab->dir));
    if (fault->needs_key && (!scene->key || !*scene->key))
        return server_fault_complain(
            scene, "%s needs the name of a lock, such as lock:voucher:1", fault->name);
    return server_fault_takes(fault, scene->by_ms) || complain_of_by(fault, scene);
}

/* Record a phase of the fault.  The name contains the server, because two servers may have the same
 * fault at once. */
static void record(const struct server_fault *fault, struct fault_scene *scene,
                   dlock_fault_phase phase)
{
    char name[RECORD_NAME_MAX];

    snprintf(name, sizeof name, "%s %s", fault->name, scene->server->name);
    fault_history_add(scene->history, phase, name, 0,
                      fault->breaks[lab_server_kind(scene->server)]);
    scene->stage = phase == DLOCK_FAULT_HAS_BEGUN ? FAULT_BEGUN : FAULT_ENDED;
}

static void end_step(struct fault_scene *scene, bool was_held)
{
    lab_change_end(scene->lab, was_held);
    redis_side_close(scene->side);
    scene->side = NULL;
    lab_db_close(scene->db);
    scene->db = NULL;
}

/* A step that undoes is not cut short by an interrupt. */
static bool undo_by(bool (*step)(struct fault_scene *), struct fault_scene *scene)
{
    bool was_held;
    bool ok;

    if (!lab_change_begin(scene->lab, &was_held))
        return false;
    interrupt_defer(true);
    ok = !step || step(scene);
    interrupt_defer(false);
    end_step(scene, was_held);
    return ok;
}

bool server_fault_arm(const struct server_fault *fault, struct fault_scene *scene)
{
    bool was_held;
    bool ok = true;

    scene->note[0] = '\0';
    if (!server_fault_fits(fault, scene))
        return false;
    if (fault->arm) {
        if (!lab_change_begin(scene->lab, &was_held))
            return false;
        scene->stage = FAULT_ARMED;
        ok = fault->arm(scene);
        end_step(scene, was_held);
    }
    scene->stage = FAULT_ARMED;
    return ok;
}

bool server_fault_begin(const struct server_fault *fault, struct fault_scene *scene)
{
    bool was_held;
    bool ok;

    if (scene->stage != FAULT_ARMED && !server_fault_arm(fault, scene))
        return false;
    if (!server_fault_fits(fault, scene) || !lab_change_begin(scene->lab, &was_held))
        return false;
    scene->note[0] = '\0';
    record(fault, scene, DLOCK_FAULT_HAS_BEGUN);
    ok = fault->begin(scene);
    end_step(scene, was_held);
    if (ok && !fault->end)
        record(fault, scene, DLOCK_FAULT_HAS_ENDED);
    return ok;
}

bool server_fault_end(const struct server_fault *fault, struct fault_scene *scene)
{
    bool ok;

    if (scene->stage != FAULT_BEGUN)
        return true;
    scene->note[0] = '\0';
    ok = undo_by(fault->end, scene);
    if (ok)
        record(fault, scene, DLOCK_FAULT_HAS_ENDED);
    return ok;
}

bool server_fault_disarm(const struct server_fault *fault, struct fault_scene *scene)
{
    bool ok;

    if (scene->stage == FAULT_IDLE)
        return true;
    ok = server_fault_end(fault, scene);
    ok = undo_by(fault->disarm, scene) && ok;
    if (scene->is_down)
        ok = undo_by(server_fault_bring_up, scene) && ok;
    if (scene->stage == FAULT_BEGUN)
        record(fault, scene, DLOCK_FAULT_HAS_ENDED);
    free(scene->state);
    scene->state = NULL;
    scene->stage = FAULT_IDLE;
    return ok;
}
