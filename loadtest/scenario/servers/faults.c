/* SPDX-License-Identifier: MIT */
/* faults.c -- the faults of servers in a scenario: made by server_fault.h, told,
 * recorded, and undone at the end in every case. */
#include "loadtest/scenario/servers/ending.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "db/backend.h"
#include "db/replication.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/stage.h"

enum { STANDBY_MS = 15000 };

const char *stage_lock_server(const struct stage *s, int node)
{
    enum lab_role role = stage_lock_role(s);

    if (role == LAB_ROLE_COUNT || node < 0 || node >= LAB_COUNT_REDLOCK)
        return NULL;
    return lab_server_name(s->lab, role, stage_node(s, role, node));
}

const char *stage_leader(struct stage *s)
{
    const struct lab_server *leader =
        lab_topology_leader(s->lab, s->setup->scenario->topology);

    if (leader == NULL)
        stage_fail(s, "no server is the leader");
    return leader->name;
}

static void say_note(struct stage *s, const struct stage_server_fault *f,
                     int64_t from_ns, const char *english, const char *chinese)
{
    char texts[2][SCENARIO_LINE_MAX];

    snprintf(texts[0], sizeof texts[0], "%s %s on %s: %.400s", f->fault->name, english,
             f->scene.server->name, f->scene.note);
    snprintf(texts[1], sizeof texts[1], "%s %s（%s）：%.400s", f->scene.server->name,
             chinese, f->fault->name, f->scene.note);
    stage_say_since(s, LINE_FAULT, from_ns, -1, texts[0], texts[1]);
}

/* The fault with this number, by which play() knows it. */
static struct stage_server_fault *fault_at(struct stage *s, int number)
{
    if (number < 0 || number >= s->server_fault_count)
        stage_fail(s, "there is no fault number %d", number);
    return &s->server_faults[number];
}

/* End the performance as spoilt: another program has the port, or the server did not
 * start in time.  The reason is on stderr. */
__attribute__((noreturn)) static void
fail_to(struct stage *s, const struct stage_server_fault *f, const char *what)
{
    s->result->was_spoilt = true;
    stage_fail(s, "%s on %s could not be %s", f->fault->name, f->scene.server->name, what);
}

int stage_server_arm(struct stage *s, const char *fault, const char *server,
                     int64_t by_ms)
{
    struct stage_server_fault *f;

    if (!scenario_has_own_servers(s->setup->scenario))
        stage_fail(s, "a scenario that hurts servers says so: needs_own_servers");
    if (s->server_fault_count == STAGE_FAULTS_MAX)
        stage_fail(s, "too many faults: %s", fault);
    f = &s->server_faults[s->server_fault_count];
    f->fault = server_fault_find(fault);
    if (f->fault == NULL)
        stage_fail(s, "no fault called %s", fault);
    if (server == NULL)
        server = stage_leader(s);
    f->scene = (struct fault_scene){.lab = s->lab,
                                    .server = lab_find_server(s->lab, server),
                                    /* The locks of a service have names of its own. */
                                    .key = s->service_count > 0 ? NULL : s->lock,
                                    .by_ms = by_ms,
                                    .history = s->faults};
    if (f->scene.server == NULL)
        stage_fail(s, "no server called %s for %s", server, fault);
    if (!server_fault_fits(f->fault, &f->scene))
        stage_fail(s, "%s cannot be made on %s", fault, server);
    s->server_fault_count++;
    if (!server_fault_arm(f->fault, &f->scene))
        fail_to(s, f, "prepared");
    return s->server_fault_count - 1;
}

void stage_server_begin(struct stage *s, int number)
{
    struct stage_server_fault *f = fault_at(s, number);
    int64_t from_ns = dlock_clock_ns();

    if (!server_fault_begin(f->fault, &f->scene))
        fail_to(s, f, "made");
    say_note(s, f, from_ns, "happens", "发生");
}

void stage_server_end(struct stage *s, int number)
{
    struct stage_server_fault *f = fault_at(s, number);
    int64_t from_ns = dlock_clock_ns();

    if (!server_fault_end(f->fault, &f->scene))
        fail_to(s, f, "ended");
    say_note(s, f, from_ns, "is over", "结束");
}

int stage_server_hurt(struct stage *s, const char *fault, const char *server,
                      int64_t by_ms)
{
    int number = stage_server_arm(s, fault, server, by_ms);

    stage_server_begin(s, number);
    return number;
}

void stage_await_standby(struct stage *s)
{
    int64_t deadline_ns = dlock_clock_after(dlock_clock_ns(), STANDBY_MS);
    char url[256], error[512];
    bool has_all = false;
    lab_db *db;

    lab_database_url(s->lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error))
        stage_fail(s, "%s", error);
    while (!has_all) {
        if (!db_replication_has_all(db, &has_all))
            stage_fail(s, "the primary does not tell of its standby: %s", lab_db_error(db));
        if (!has_all && dlock_clock_ns() >= deadline_ns)
            stage_fail(s, "the standby does not follow");
        if (!has_all)
            interrupt_sleep_ms(10);
    }
    lab_db_close(db);
}

void stage_stop_in_postgres(struct stage *s, const char *backend_type,
                            const char *standby)
{
    char url[256], error[512], texts[2][SCENARIO_LINE_MAX];
    lab_db *db;
    int pid = 0;

    if (!scenario_has_own_servers(s->setup->scenario))
        stage_fail(s, "a scenario that hurts servers says so: needs_own_servers");
    lab_database_url(s->lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error))
        stage_fail(s, "%s", error);
    if (!db_process_of(db, backend_type, standby, &pid) || kill(pid, SIGSTOP) != 0)
        stage_fail(s, "PostgreSQL's %s cannot be stopped: %s", backend_type,
                   pid != 0              ? strerror(errno)
                   : *lab_db_error(db) ? lab_db_error(db)
                                         : "it has none, or several");
    lab_db_close(db);
    stage_fault(s, "postgres-process-stop", DLOCK_FAULT_HAPPENED, DLOCK_ASSUMES_NONE,
                pid);
    snprintf(texts[0], sizeof texts[0], "PostgreSQL's %s, process %d, stops", backend_type,
             pid);
    snprintf(texts[1], sizeof texts[1], "PostgreSQL 的 %s（进程 %d）停住", backend_type, pid);
    stage_say(s, LINE_FAULT, -1, texts[0], texts[1]);
}

bool stage_disarm_servers(struct stage *s)
{
    bool ok = true;

    while (s->server_fault_count > 0) {
        struct stage_server_fault *f = &s->server_faults[--s->server_fault_count];

        ok = server_fault_disarm(f->fault, &f->scene) && ok;
    }
    return ok;
}
