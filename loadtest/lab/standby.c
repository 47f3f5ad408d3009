/* SPDX-License-Identifier: MIT */
/* standby.c -- standbys of a lab's PostgreSQL: one that follows as it can, and one that every
 * COMMIT waits for.
 *
 * A standby begins with a copy of the primary's files, and its name there is its server's. */
#include "loadtest/lab/standby.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/shell.h"
#include "loadtest/lab/topology.h"

enum { ERROR_MAX = 512, POLL_MS = 10, PRIMARY_AT = 2 };

/* ---- the copy ---- */

/* Wait for the program that copies.  False: it failed, or we are to stop. */
static bool await_copy(struct lab *lab, struct lab_server *server)
{
    char path[FILES_PATH_MAX];
    int status = -1;

    while (!child_wait(&server->child, POLL_MS, &status))
        if (interrupted())
            return false;
    if (status == 0)
        return true;
    eprintf("seckill: %s could not be copied by pg_basebackup; the end of its log:\n",
            server->name);
    lab_log_path(lab, server, path);
    files_print_tail(path);
    return false;
}

/* The password is in a file, since other users of the machine can read a command line.  The
 * standby finds the file by its own settings, so that it stays. */
static bool write_password(const struct lab *lab, const struct lab_server *server,
                           char path[FILES_PATH_MAX])
{
    char text[128];

    files_path(path, "%s/%s.password", lab->data_root, server->name);
    snprintf(text, sizeof text, "127.0.0.1:%d:*:seckill_lab:%s\n",
             lab_port(lab, LAB_POSTGRES, 0), lab->lab_password);
    return lab_postgres_write(path, text);
}

/* The caller frees it. */
static char *describe_primary(const struct lab *lab, const struct lab_server *server,
                              const char *password)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));

    fprintf(out, "host=127.0.0.1 port=%d user=seckill_lab application_name=%s passfile='",
            lab_port(lab, LAB_POSTGRES, 0), server->name);
    backslash_print(out, password, "'\\");
    fputc('\'', out);
    fclose(out);
    return text;
}

static bool copy(struct lab *lab, struct lab_server *server, const char *data)
{
    char program[FILES_PATH_MAX], password[FILES_PATH_MAX], *primary;
    const char *argv[] = {program, "-d", NULL, "-D", data, "-R", "-X", "stream",
                          "-c",    "fast", NULL};
    struct child_options options = child_options_default(argv);
    bool ok;

    if (access(data, F_OK) == 0)
        return true;
    if (!lab_postgres_program(program, "pg_basebackup") ||
        !write_password(lab, server, password))
        return false;
    argv[PRIMARY_AT] = primary = describe_primary(lab, server, password);
    options.user = lab_postgres_user();
    options.death_signal = SIGKILL;
    ok = lab_server_run(lab, server, &options, "postgresql") && await_copy(lab, server);
    free(primary);
    return ok;
}

/* ---- the role of a server ---- */

/* The lab's connection to one server, whatever its role.  NULL: `why` says why. */
static lab_db *open_server(const struct lab *lab, const struct lab_server *server,
                           char why[LAB_WHY_MAX])
{
    char url[256], error[ERROR_MAX];
    lab_db *db = NULL;

    snprintf(url, sizeof url,
             "postgresql://seckill_lab:%s@127.0.0.1:%d/seckill?target_session_attrs=any",
             lab->lab_password, server->port);
    if (!lab_db_open(&db, url, error, sizeof error))
        snprintf(why, LAB_WHY_MAX, "%.200s", error);
    return db;
}

bool lab_standby_role(const struct lab *lab, const struct lab_server *server,
                      enum db_role *role)
{
    char why[LAB_WHY_MAX];
    lab_db *db = open_server(lab, server, why);
    bool ok = db && db_replication_role(db, role);

    lab_db_close(db);
    return ok;
}

bool lab_standby_promote(const struct lab *lab, const struct lab_server *server,
                         char why[LAB_WHY_MAX])
{
    lab_db *db = open_server(lab, server, why);
    bool ok = db && db_replication_promote(db);

    if (db && !ok)
        snprintf(why, LAB_WHY_MAX, "%.200s", lab_db_error(db));
    lab_db_close(db);
    return ok;
}

static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    const struct lab_server *server = lab_server((struct lab *)(uintptr_t)lab, role, 0);
    enum db_role found;

    if (!lab_standby_role(lab, server, &found))
        snprintf(why, LAB_WHY_MAX, "%s does not answer", server->name);
    else if (found == DB_ROLE_PRIMARY)
        snprintf(why, LAB_WHY_MAX, "%s was promoted, and has no standby", server->name);
    else if (found == DB_ROLE_ALONE)
        snprintf(why, LAB_WHY_MAX, "%s is connected to no primary", server->name);
    else
        return true;
    return false;
}

/* From now on every COMMIT of the primary waits. */
static bool join(struct lab *lab, enum lab_role role)
{
    char why[LAB_WHY_MAX];
    lab_db *db = open_server(lab, lab_server(lab, LAB_POSTGRES, 0), why);
    bool ok = db && db_replication_wait_for(db, lab_server_name(lab, role, 0));

    if (!ok)
        eprintf("seckill: the primary does not wait for its standby: %s\n",
                db ? lab_db_error(db) : why);
    lab_db_close(db);
    return ok;
}

/* All servers of the database, of which one takes writes. */
static void address(const struct lab *lab, char *out)
{
    lab_service_url(lab, lab_port(lab, LAB_POSTGRES, 0), out, LAB_ADDRESS_MAX);
}

const struct lab_topology_row lab_topology_standby = {
    .copy = copy,
    .stands = stands,
    .role = LAB_STANDBY,
    .variable = "SECKILL_LAB_STANDBY_URL",
    .address = address,
    .is_late = true,
};

const struct lab_topology_row lab_topology_synced = {
    .copy = copy,
    .join = join,
    .stands = stands,
    .role = LAB_SYNCED,
    .variable = "SECKILL_LAB_SYNC_STANDBY_URL",
    .address = address,
    .is_late = true,
};
