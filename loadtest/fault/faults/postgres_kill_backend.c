/* SPDX-License-Identifier: MIT */
/* postgres_kill_backend.c -- the server ends the session that holds the lock, or, with
 * no lock named, those of the service that are in the middle of an order. */
#include "db/backend.h"
#include "loadtest/fault/server_fault.h"

static bool begin(struct fault_scene *scene)
{
    lab_db *db = server_fault_database(scene);
    int pids[DB_BACKENDS_MAX];
    size_t count;

    if (!db)
        return false;
    if (!db_backends_of(db, scene->key, pids, &count))
        return server_fault_complain(scene, "%s", lab_db_error(db));
    if (count == 0)
        return server_fault_complain(
            scene,
            scene->key ? "no session holds %s\n  take the lock first: pg-advisory or pg-row"
                       : "no session of the service is inside a transaction%s",
            scene->key ? scene->key : "");
    server_fault_note(scene, "%s:", scene->server->name);
    for (size_t i = 0; i < count; i++) {
        bool gone;

        if (!db_backend_end(db, pids[i], &gone))
            return server_fault_complain(scene, "%s", lab_db_error(db));
        if (!gone)
            return server_fault_complain(scene, "backend %d does not end", pids[i]);
        server_fault_note(scene, " backend %d", pids[i]);
    }
    server_fault_note(scene, "%s%s %s not in pg_stat_activity any more",
                      scene->key ? ", which held " : ", in a transaction,",
                      scene->key ? scene->key : "", count == 1 ? "is" : "are");
    return true;
}

const struct server_fault fault_postgres_kill_backend = {
    .name = "postgres-kill-backend",
    .does = "the session that holds the lock, or an order, is ended by the server",
    .servers = FAULT_ON(LAB_IS_POSTGRES),
    .spares_others = true,
    .breaks = {[LAB_IS_POSTGRES] = DLOCK_ASSUMES_SESSION},
    .begin = begin,
};
