/* SPDX-License-Identifier: MIT */
/* pgbouncer.c -- PgBouncer before a lab's PostgreSQL: one gives each connection a session, the
 * other gives each transaction any session.
 *
 * It refuses to run as root, as PostgreSQL does, and gets the same rights. */
#include <signal.h>
#include <unistd.h>

#include "db/issue.h"
#include "loadtest/lab/kind.h"

enum {
    SESSIONS = 100, /* of one user in the server, which has 400 */
    CLIENTS = 1000,
    DISCARD_MS = 3000,
};

static const char *mode_of(const struct lab_server *server)
{
    return server->node == 0 ? "session" : "transaction";
}

/* The users and their passwords. */
static bool write_users(const struct lab *lab, const char *path)
{
    char text[256];

    snprintf(text, sizeof text, "\"seckill_service\" \"%s\"\n\"seckill_lab\" \"%s\"\n",
             lab->service_password, lab->lab_password);
    return lab_postgres_write(path, text);
}

static bool write_settings(const struct lab *lab, const struct lab_server *server,
                           const char *users_path, const char *path)
{
    char text[FILES_PATH_MAX + 512];

    snprintf(text, sizeof text,
             "[databases]\n"
             "seckill = host=127.0.0.1 port=%d dbname=seckill\n"
             "[pgbouncer]\n"
             "listen_addr = 127.0.0.1\n"
             "listen_port = %d\n"
             "unix_socket_dir =\n"
             "auth_type = scram-sha-256\n"
             "auth_file = %s\n"
             "admin_users = seckill_lab\n"
             "pool_mode = %s\n"
             "default_pool_size = %d\n"
             "max_client_conn = %d\n"
             "query_wait_timeout = 2\n"
             "server_login_retry = 1\n",
             lab_port(lab, LAB_POSTGRES, 0), server->port, users_path, mode_of(server),
             SESSIONS, CLIENTS);
    return lab_postgres_write(path, text);
}

/* Debian has it in /usr/sbin, which is in root's PATH alone. */
static bool start(struct lab *lab, struct lab_server *server,
                  const struct lab_topology_row *topology)
{
    char ini[FILES_PATH_MAX], users[FILES_PATH_MAX];
    const char *program =
        access("/usr/sbin/pgbouncer", X_OK) == 0 ? "/usr/sbin/pgbouncer" : "pgbouncer";
    const char *argv[] = {program, "-q", ini, NULL};
    struct child_options options = child_options_default(argv);

    (void)topology; /* it has no peers */
    files_path(users, "%s/%s.users", lab->data_root, server->name);
    files_path(ini, "%s/%s.ini", lab->data_root, server->name);
    if (!write_users(lab, users) || !write_settings(lab, server, users, ini))
        return false;
    options.user = lab_postgres_user();
    options.death_signal = SIGKILL;
    return lab_server_run(lab, server, &options, "pgbouncer");
}

/* PgBouncer accepts a client only when it has a session of the server for it. */
static bool answers(const struct lab *lab, const struct lab_server *server)
{
    char url[256], error[256];
    lab_db *db = NULL;

    snprintf(url, sizeof url,
             "postgresql://seckill_service:%s@127.0.0.1:%d/seckill?connect_timeout=2",
             lab->service_password, server->port);
    if (!lab_db_open(&db, url, error, sizeof error))
        return false;
    lab_db_close(db);
    return true;
}

static void describe(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX])
{
    (void)lab;
    snprintf(out, LAB_PART_MAX, "pool_mode %s", mode_of(server));
}

const struct lab_kind_row lab_kind_pgbouncer = {
    .name = "pgbouncer",
    .start = start,
    .answers = answers,
    .describe = describe,
    .url = lab_kind_postgres_url,
    .discard_ms = DISCARD_MS,
};

static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    for (int i = 0; i < lab->server_count; i++) {
        const struct lab_server *server = &lab->servers[i];

        if (server->role != role || answers(lab, server))
            continue;
        snprintf(why, LAB_WHY_MAX, "%s does not answer", server->name);
        return false;
    }
    return true;
}

const struct lab_topology_row lab_topology_pgbouncer = {
    .stands = stands,
    .role = LAB_PGBOUNCER,
    .variable = "SECKILL_LAB_PGBOUNCER_URLS",
    .is_late = true,
};
