/* SPDX-License-Identifier: MIT */
/* postgres.c -- the lab's PostgreSQL cluster: loopback only, passwords, durable.
 *
 * PostgreSQL refuses to run as root.  If this program is root, PostgreSQL gets the rights of
 * `postgres` or of `nobody`, and its data is in a directory that this user can reach: a child
 * process with these rights tries it. */
#include "loadtest/lab/kind.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/issue.h"
#include "db/replication.h"
#include "gen/postgres_sql.h"
#include "gen/schema_sql.h"
#include "loadtest/lab/standby.h"

/* Two services of 64 workers: one connection per worker for orders, and with a pg lock
 * one more for each lock that is held or asked for; and the tools. */
enum { MAX_CONNECTIONS = 400, DISCARD_MS = 10000 };

/* Give `path` to that user, and see whether the user can work in it. */
static bool give_to(const char *path, const struct child_user *user)
{
    int status = 1;
    pid_t pid;

    if (lchown(path, user->uid, user->gid) != 0)
        return false;
    pid = fork();
    if (pid == 0) {
        if (initgroups(user->name, user->gid) != 0 || setgid(user->gid) != 0 ||
            setuid(user->uid) != 0)
            _exit(1);
        _exit(access(path, R_OK | W_OK | X_OK) == 0 ? 0 : 1);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Make data_root, which the state of the lab names by now, so that a start that is killed
 * leaves no directory that `seckill lab down` does not find. */
static bool make_root(const struct lab *lab)
{
    const struct child_user *user = lab_postgres_user();

    if (mkdir(lab->data_root, 0700) != 0)
        return false;
    if (!lab_distrust(lab->data_root, LAB_OTHERS) && (!user || give_to(lab->data_root, user)))
        return true;
    rmdir(lab->data_root);
    return false;
}

/* A new directory in the directory `given`. */
static bool make_root_in(struct lab *lab, const char *given)
{
    const struct child_user *user = lab_postgres_user();
    char parent[FILES_PATH_MAX];

    if (realpath(given, parent)) {
        files_path(lab->data_root, "%s/seckill-lab-%s", parent, lab->id);
        if (!lab_state_write(lab))
            return false;
        if (make_root(lab))
            return true;
    }
    eprintf("seckill: %s is no place for the servers' data\n"
            "  name a directory where the user %s may work, and can forbid it to others:\n"
            "  SECKILL_LAB_DATA=/var/tmp\n",
            given, user ? user->name : "of this process");
    lab->data_root[0] = '\0';
    return false;
}

bool lab_postgres_make_root(struct lab *lab)
{
    const char *given = getenv("SECKILL_LAB_DATA");

    if (given && *given)
        return make_root_in(lab, given);
    files_join(lab->data_root, lab->dir, "data");
    if (!lab_state_write(lab))
        return false;
    return make_root(lab) || make_root_in(lab, "/var/tmp");
}

static bool start(struct lab *lab, struct lab_server *server, const char *const *argv)
{
    struct child_options options = child_options_default(argv);

    options.user = lab_postgres_user();
    options.death_signal = SIGQUIT;
    return lab_server_run(lab, server, &options, "postgresql");
}

bool lab_postgres_init(struct lab *lab, struct lab_server *server)
{
    char program[FILES_PATH_MAX], data[FILES_PATH_MAX], password[FILES_PATH_MAX],
        password_flag[FILES_PATH_MAX];
    const char *argv[] = {program,       "-D",
                          data,          "-U",
                          "seckill_lab", password_flag,
                          "-E",          "UTF8",
                          "--locale=C",  "--auth=scram-sha-256",
                          "--no-sync",   "--no-instructions",
                          NULL};

    if (!lab_postgres_program(program, "initdb"))
        return false;
    /* initdb reads the first password from a file. */
    files_join(password, lab->data_root, "password");
    if (!lab_postgres_write(password, lab->lab_password))
        return false;
    files_path(password_flag, "--pwfile=%s", password);
    files_join(data, lab->data_root, "postgres");
    return start(lab, server, argv);
}

static bool start_server(struct lab *lab, struct lab_server *server,
                         const struct lab_topology_row *topology)
{
    char program[FILES_PATH_MAX], data[FILES_PATH_MAX], port[32], connections[32];
    const char *argv[] = {program, "-D", data, "-p", port, "-N", connections,
                          "-c", "listen_addresses=127.0.0.1",
                          "-c", "unix_socket_directories=",
                          /* no /dev/shm is needed */
                          "-c", "dynamic_shared_memory_type=mmap",
                          "-c", "shared_buffers=64MB",
                          "-c", "fsync=on",
                          "-c", "synchronous_commit=on",
                          "-c", "max_wal_size=1GB",
                          "-c", "checkpoint_timeout=30min",
                          "-c", "autovacuum_naptime=5s",
                          "-c", "log_statement=none",
                          "-c", "logging_collector=off",
                          "-c", "wal_retrieve_retry_interval=200ms",
                          NULL};

    files_join(data, lab->data_root, "password");
    unlink(data);
    files_join(data, lab->data_root, server->name);
    if (topology->copy && !topology->copy(lab, server, data))
        return false;
    snprintf(port, sizeof port, "%d", server->port);
    snprintf(connections, sizeof connections, "%d", MAX_CONNECTIONS);
    return lab_postgres_program(program, "postgres") && start(lab, server, argv);
}

static void forget(const struct lab *lab, const struct lab_server *server)
{
    char path[FILES_PATH_MAX];

    files_path(path, "%s/%s/postmaster.pid", lab->data_root, server->name);
    unlink(path);
}

static bool answers(const struct lab *lab, const struct lab_server *server)
{
    char url[256];

    (void)lab;
    /* The shortest timeout that libpq has, for a server that hangs. */
    snprintf(url, sizeof url,
             "postgresql://seckill_lab@127.0.0.1:%d/postgres?connect_timeout=2",
             server->port);
    return lab_db_answers(url);
}

bool lab_postgres_fill(const struct lab *lab)
{
    char url[256], error[512] = "";
    lab_db *db = NULL;
    bool ok;

    snprintf(url, sizeof url, "postgresql://seckill_lab:%s@127.0.0.1:%d/postgres",
             lab->lab_password, lab_port(lab, LAB_POSTGRES, 0));
    ok = lab_db_open(&db, url, error, sizeof error);
    if (ok && !lab_db_create(db, "seckill", "seckill_service", lab->service_password,
                             lab->lab_password)) {
        snprintf(error, sizeof error, "%s", lab_db_error(db));
        ok = false;
    }
    lab_db_close(db);
    db = NULL;
    lab_database_url(lab, url, sizeof url);
    ok = ok && lab_db_open(&db, url, error, sizeof error);
    if (ok && (!lab_db_run(db, POSTGRES_SQL) || !lab_db_run(db, SCHEMA_SQL))) {
        snprintf(error, sizeof error, "%s", lab_db_error(db));
        ok = false;
    }
    lab_db_close(db);
    if (!ok)
        eprintf("seckill: PostgreSQL is up, but setting it up failed: %s\n", error);
    return ok;
}

/* Of a standby: it may have been promoted. */
static void describe(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX])
{
    static const char *const ROLES[] = {[DB_ROLE_PRIMARY] = "primary",
                                        [DB_ROLE_STREAMING] = "standby",
                                        [DB_ROLE_ALONE] = "standby without a primary"};
    enum db_role role;

    if (lab_standby_role(lab, server, &role))
        snprintf(out, LAB_PART_MAX, "%s", ROLES[role]);
}

const struct lab_kind_row lab_kind_postgres = {
    .name = "postgres",
    .start = start_server,
    .answers = answers,
    .describe = describe,
    .forget = forget,
    .url = lab_kind_postgres_url,
    .stop_signal = SIGINT,
    .discard_signal = SIGQUIT,
    .discard_ms = DISCARD_MS,
};
