/* SPDX-License-Identifier: MIT */
/* postgres_restart_immediate.c -- PostgreSQL is shut down in the mode "immediate" and
 * starts again: transactions that were committed are kept, all others are lost. */
#include <signal.h>
#include <string.h>

#include "db/backend.h"
#include "loadtest/fault/server_fault.h"

enum { END_MS = 10000 };

static bool read_start(struct fault_scene *scene, char out[DB_START_MAX])
{
    lab_db *db = server_fault_database(scene);

    return db && (db_start_time(db, out) ||
                  server_fault_complain(scene, "%s", lab_db_error(db)));
}

static bool begin(struct fault_scene *scene)
{
    char before[DB_START_MAX], after[DB_START_MAX];

    if (!read_start(scene, before))
        return false;
    scene->is_down = true;
    child_end(&scene->server->child, SIGQUIT, END_MS);
    if (!server_fault_bring_up(scene) || !read_start(scene, after))
        return false;
    if (strcmp(before, after) == 0)
        return server_fault_complain(scene, "it says that it was never ended");
    server_fault_note(scene, "%s: pg_postmaster_start_time %s -> %s",
                      scene->server->name, before, after);
    return true;
}

const struct server_fault fault_postgres_restart_immediate = {
    .name = "postgres-restart-immediate",
    .does = "the server ends without finishing any transaction (SIGQUIT) and starts again",
    .servers = FAULT_ON(LAB_IS_POSTGRES),
    .breaks = {[LAB_IS_POSTGRES] = DLOCK_ASSUMES_SESSION},
    .begin = begin,
};
