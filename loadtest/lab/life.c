/* SPDX-License-Identifier: MIT */
/* life.c -- starts, finds and stops a lab.
 *
 * state.json names a process from the moment the process runs.  So the next command can
 * clean up, whatever ended this program. */
#include "loadtest/lab/lab.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "base/http/token.h"
#include "loadtest/kit/interrupt.h"

enum { POLL_MS = 10, END_MS = 10000, REDIS_END_MS = 3000, STARTS = 4 };

const char *lab_choose_dir(const char *given)
{
    const char *from_environment = getenv("SECKILL_LAB_DIR");

    if (given)
        return given;
    return from_environment && *from_environment ? from_environment : ".lab";
}

/* Stop every process of this lab, and remove all its files but the lock file. */
static void clean(struct lab *lab)
{
    char path[FILES_PATH_MAX];
    struct dirent *entry;
    DIR *dir;

    for (int i = 0; i < lab->server_count; i++)
        child_signal(&lab->servers[i].child, i == 0 ? SIGQUIT : SIGTERM);
    for (int i = 0; i < lab->server_count; i++) {
        child_end(&lab->servers[i].child, i == 0 ? SIGQUIT : SIGTERM,
                  i == 0 ? END_MS : REDIS_END_MS);
        lab_release_port(&lab->servers[i]);
    }
    child_end(&lab->spare.child, SIGTERM, REDIS_END_MS);
    if (lab->data_root[0] && !files_remove_tree(lab->data_root))
        fprintf(stderr, "seckill: cannot remove %s: %s\n", lab->data_root,
                strerror(errno));
    dir = opendir(lab->dir);
    while (dir && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, "lock") == 0)
            continue;
        files_join(path, lab->dir, entry->d_name);
        files_remove_tree(path);
    }
    if (dir)
        closedir(dir);
}

/* clean(), and the directory itself. */
static void remove_lab(struct lab *lab)
{
    char path[FILES_PATH_MAX];

    clean(lab);
    files_join(path, lab->dir, "lock");
    unlink(path);
    if (rmdir(lab->dir) != 0 && errno != ENOENT)
        fprintf(stderr, "seckill: cannot remove %s: %s\n", lab->dir, strerror(errno));
    lab_unlock(lab);
}

/* A directory that holds anything but a lab, or the beginning of a lab whose starter was
 * killed, belongs to another program, and is never emptied. */
static bool is_ours_to_use(const char *path)
{
    char state[FILES_PATH_MAX];
    struct dirent *entry;
    bool ours = true;
    DIR *dir;

    files_join(state, path, "state.json");
    if (access(state, F_OK) == 0)
        return true;
    dir = opendir(path);
    while (dir && (entry = readdir(dir)) != NULL)
        ours = ours && (entry->d_name[0] == '.' || strcmp(entry->d_name, "lock") == 0 ||
                        strcmp(entry->d_name, "state.json.new") == 0);
    if (dir)
        closedir(dir);
    return ours;
}

static enum exit_code make_dir(struct lab *lab, const char *dir)
{
    if (!files_make_dir(dir) || !realpath(dir, lab->dir)) {
        fprintf(stderr, "seckill: cannot make %s: %s\n", dir, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    if (!is_ours_to_use(lab->dir)) {
        fprintf(stderr,
                "seckill: %s holds other things, and stopping a lab removes its whole "
                "directory\n  name a new one: --dir=.lab\n",
                lab->dir);
        return EXIT_USAGE;
    }
    if (chmod(lab->dir, 0700) != 0 || access(lab->dir, W_OK | X_OK) != 0) {
        fprintf(stderr, "seckill: cannot write %s: %s\n", lab->dir, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    return EXIT_VALID;
}

static bool keep_port(struct lab_server *server)
{
    if (lab_reserve_port(server))
        return true;
    fprintf(stderr, "seckill: found no free port on 127.0.0.1: %s\n", strerror(errno));
    return false;
}

static bool prepare(struct lab *lab, bool zookeeper)
{
    char path[FILES_PATH_MAX];

    files_random_hex(lab->id, LAB_SECRET_LEN / 2);
    files_random_hex(lab->lab_password, LAB_SECRET_LEN / 2);
    files_random_hex(lab->service_password, LAB_SECRET_LEN / 2);
    files_random_hex(lab->redis_password, LAB_SECRET_LEN / 2);
    lab_servers_init(lab, zookeeper);
    for (int i = 0; i < lab->server_count; i++) {
        if (!keep_port(&lab->servers[i]))
            return false;
    }
    /* This file comes first, since it marks the directory as a lab. */
    if (!lab_state_write(lab))
        return false;
    files_join(path, lab->dir, "token.key");
    if (token_keys_make(path))
        return true;
    fprintf(stderr, "seckill: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

/* Between the end of the placeholder and the start of java the port is free, so another
 * process may take it.  Then java ends, and is started with another port. */
static bool wait_zookeeper(struct lab *lab)
{
    struct lab_server *server = lab_server(lab, LAB_ZOOKEEPER, 0);

    for (int i = 1; i < STARTS; i++) {
        int64_t deadline_ns = monotonic_ns() + LAB_READY_MS * 1000000LL;

        while (child_runs(&server->child) && !lab_server_answers(lab, server) &&
               !interrupted() && monotonic_ns() < deadline_ns)
            interrupt_sleep_ms(POLL_MS);
        if (child_runs(&server->child) || interrupted())
            break;
        fprintf(stderr, "seckill: ZooKeeper ended at once; trying another port\n");
        if (!lab_reserve_port(server) || !lab_server_start(lab, server))
            return false;
    }
    return lab_server_wait(lab, server);
}

static bool wait_initdb(struct lab *lab)
{
    struct lab_server *server = lab_server(lab, LAB_POSTGRES, 0);
    int status = -1;

    while (!child_wait(&server->child, POLL_MS, &status)) {
        if (interrupted())
            return false;
    }
    if (status != 0)
        lab_server_show_failure(lab, server, "could not be set up by initdb");
    return status == 0;
}

/* All at once: the others come up while initdb works. */
static bool start_servers(struct lab *lab)
{
    struct lab_server *postgres = lab_server(lab, LAB_POSTGRES, 0);

    if (!lab_postgres_init(lab, postgres))
        return false;
    for (int i = 0; i < lab->server_count; i++) {
        struct lab_server *server = &lab->servers[i];

        if (server != postgres && !lab_server_start(lab, server))
            return false;
    }
    if (!wait_initdb(lab) || !lab_server_start(lab, postgres))
        return false;
    for (int i = 0; i < lab->server_count; i++) {
        struct lab_server *server = &lab->servers[i];

        if (!(server->role == LAB_ZOOKEEPER ? wait_zookeeper(lab)
                                            : lab_server_wait(lab, server)))
            return false;
    }
    return lab_postgres_fill(lab) && lab_env_write(lab) && !interrupted();
}

/* To a lab that is up, with the lock held. */
static enum exit_code add_zookeeper(struct lab *lab)
{
    struct lab_server *server = lab_server(lab, LAB_ZOOKEEPER, 0);

    fprintf(stderr, "seckill: starting ZooKeeper in the lab in %s\n", lab->dir);
    lab_server_init(server, LAB_ZOOKEEPER, 0);
    if (!keep_port(server))
        return EXIT_UNAVAILABLE;
    lab->server_count++;
    if (lab_server_start(lab, server) && wait_zookeeper(lab) && lab_env_write(lab) &&
        !interrupted())
        return EXIT_VALID;
    child_end(&server->child, SIGTERM, END_MS);
    lab_release_port(server);
    lab->server_count--;
    lab_state_write(lab);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_UNAVAILABLE;
}

/* The servers of a lab that is new. */
static enum exit_code bring_up(struct lab *lab, bool zookeeper)
{
    if (!prepare(lab, zookeeper))
        return EXIT_UNAVAILABLE;
    if (!lab_postgres_make_root(lab))
        return EXIT_CANNOT_WRITE;
    return start_servers(lab) ? EXIT_VALID : EXIT_UNAVAILABLE;
}

/* With the lab's lock held: start whatever does not run. */
static enum exit_code start_locked(struct lab *lab, bool owned, bool zookeeper)
{
    struct lab found;
    enum exit_code rc;
    int lock_fd = lab->lock_fd;

    if (lab_state_read(&found, lab->dir)) {
        found.lock_fd = lock_fd;
        if (lab_is_up(&found)) {
            *lab = found;
            return !zookeeper || lab_has_zookeeper(lab) ? EXIT_VALID
                                                        : add_zookeeper(lab);
        }
        fprintf(stderr, "seckill: cleaning up after a lab in %s that is no longer up\n",
                found.dir);
        clean(&found);
    }
    lab->owned = owned;
    rc = bring_up(lab, zookeeper);
    if (rc == EXIT_VALID)
        return rc;
    remove_lab(lab);
    return interrupted() ? EXIT_INTERRUPTED : rc;
}

static enum exit_code start(struct lab *lab, const char *dir, bool owned,
                            bool zookeeper)
{
    enum exit_code rc;

    *lab = (struct lab){.lock_fd = -1};
    rc = make_dir(lab, dir);
    if (rc != EXIT_VALID)
        return rc;
    if (!lab_lock(lab))
        return EXIT_UNAVAILABLE;
    return start_locked(lab, owned, zookeeper);
}

enum exit_code lab_use(struct lab *lab, const char *dir)
{
    if (lab_state_read(lab, dir) && lab_is_up(lab))
        return EXIT_VALID;
    fprintf(stderr,
            "seckill: no lab is up in %s\n  start one: seckill lab up --dir=%s\n", dir,
            dir);
    *lab = (struct lab){.lock_fd = -1};
    return EXIT_UNAVAILABLE;
}

enum exit_code lab_open(struct lab *lab, const char *dir, bool zookeeper)
{
    bool was_up;

    /* A lab that another command owns would go away under us: then start() complains.
     */
    if (lab_state_read(lab, dir) && lab_is_up(lab) && !lab->owned)
        return lab_keep(lab, dir, zookeeper, &was_up);
    if (zookeeper)
        fprintf(stderr, "seckill: starting a lab with ZooKeeper in %s\n", dir);
    return start(lab, dir, true, zookeeper);
}

void lab_close(struct lab *lab)
{
    if (lab->dir[0] && lab->owned && lab->lock_fd >= 0)
        remove_lab(lab);
    *lab = (struct lab){.lock_fd = -1};
}

enum exit_code lab_keep(struct lab *lab, const char *dir, bool zookeeper, bool *was_up)
{
    enum exit_code rc;

    *was_up = lab_state_read(lab, dir) && lab_is_up(lab);
    lab->lock_fd = -1;
    if (*was_up && !lab->owned && (!zookeeper || lab_has_zookeeper(lab)))
        return EXIT_VALID;
    rc = start(lab, dir, false, zookeeper);
    lab_unlock(lab);
    return rc;
}

enum exit_code lab_remove(const char *dir, bool *was_there)
{
    struct lab lab = {.lock_fd = -1}, found;

    *was_there = realpath(dir, lab.dir) != NULL;
    if (!*was_there)
        return EXIT_VALID;
    if (!is_ours_to_use(lab.dir)) {
        fprintf(stderr, "seckill: %s is no lab; nothing was removed\n", lab.dir);
        return EXIT_USAGE;
    }
    if (!lab_lock(&lab))
        return EXIT_UNAVAILABLE;
    if (lab_state_read(&found, lab.dir)) {
        found.lock_fd = lab.lock_fd;
        lab = found;
    }
    remove_lab(&lab);
    return EXIT_VALID;
}
