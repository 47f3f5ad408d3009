/* SPDX-License-Identifier: MIT */
/* state.c -- the files of a lab: state.json, env and the lock file; and the lab's ports.
 */
#include "loadtest/lab/lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/port.h"

enum {
    STATE_FORMAT = 2,
    LOCK_WAIT_MS = 300,
    ANSWER_MS = 500,
};

void lab_log_path(const struct lab *lab, const struct lab_server *server, char *out)
{
    files_path(out, "%s/%s.log", lab->dir, server->name);
}

static bool copy_text(char *out, size_t size, const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text && snprintf(out, size, "%s", text) < (int)size;
}

static bool read_server(struct lab_server *server, const json_t *entry)
{
    const json_t *peers = json_object_get(entry, "peer_ports");

    server->port = (int)json_integer_value(json_object_get(entry, "port"));
    for (size_t i = 0; i < LAB_PEER_PORT_MAX; i++)
        server->peer_ports[i] = (int)json_integer_value(json_array_get(peers, i));
    server->child.pid = (pid_t)json_integer_value(json_object_get(entry, "pid"));
    server->child.start = (uint64_t)json_integer_value(json_object_get(entry, "start"));
    return copy_text(server->name, sizeof server->name, entry, "name");
}

static bool read_servers(struct lab *lab, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        struct lab_server *server = name ? lab_server_add(lab, name) : NULL;

        if (!server || !read_server(server, entry))
            return false;
    }
    return lab_servers_are_whole(lab);
}

bool lab_state_read(struct lab *lab, const char *dir)
{
    char path[FILES_PATH_MAX];
    const json_t *spare;
    json_t *json;
    bool ok;

    *lab = (struct lab){.lock_fd = -1};
    if (!realpath(dir, lab->dir))
        return false;
    files_join(path, lab->dir, "state.json");
    if (access(path, R_OK) != 0)
        return false;
    json = files_read_json(path);
    spare = json_object_get(json, "spare");
    ok = json_integer_value(json_object_get(json, "format")) == STATE_FORMAT &&
         copy_text(lab->id, sizeof lab->id, json, "id") &&
         copy_text(lab->data_root, sizeof lab->data_root, json, "data_root") &&
         copy_text(lab->lab_password, sizeof lab->lab_password, json, "lab_password") &&
         copy_text(lab->service_password, sizeof lab->service_password, json,
                   "service_password") &&
         copy_text(lab->redis_password, sizeof lab->redis_password, json,
                   "redis_password") &&
         read_servers(lab, json_object_get(json, "servers")) &&
         (!spare || read_server(&lab->spare, spare));
    lab->owned = json_is_true(json_object_get(json, "owned"));
    lab->partition_count = (int)json_integer_value(json_object_get(json, "partitions"));
    if (lab->partition_count < 1)
        lab->partition_count = 1; /* a state file of an old version has no count */
    json_decref(json);
    return ok;
}

static json_t *server_json(const struct lab_server *server)
{
    json_t *peers = server->peer_ports[0] != 0 ? json_array() : NULL;

    for (int i = 0; peers && i < LAB_PEER_PORT_MAX; i++)
        json_array_append_new(peers, json_integer(server->peer_ports[i]));
    return json_pack("{s:s, s:i, s:i, s:I, s:o*}", "name", server->name, "port", server->port,
                     "pid", (int)server->child.pid, "start",
                     (json_int_t)server->child.start, "peer_ports", peers);
}

bool lab_state_write(const struct lab *lab)
{
    char path[FILES_PATH_MAX];
    json_t *servers = json_array();
    json_t *json;
    bool ok;

    for (int i = 0; i < lab->server_count; i++)
        json_array_append_new(servers, server_json(&lab->servers[i]));
    json = json_pack("{s:i, s:s, s:b, s:i, s:s, s:s, s:s, s:s, s:o, s:o*}", "format", STATE_FORMAT,
                     "id", lab->id, "owned", lab->owned, "partitions", lab->partition_count,
                     "data_root", lab->data_root, "lab_password", lab->lab_password,
                     "service_password", lab->service_password, "redis_password",
                     lab->redis_password, "servers", servers, "spare",
                     lab->spare.child.pid ? server_json(&lab->spare) : NULL);
    files_join(path, lab->dir, "state.json");
    ok = json && files_write_secret_json(path, json);
    json_decref(json);
    if (!ok)
        fprintf(stderr, "seckill: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

const char *lab_ended_server(const struct lab *lab)
{
    for (int i = 0; i < lab->server_count; i++) {
        if (!child_runs(&lab->servers[i].child))
            return lab->servers[i].name;
    }
    return NULL;
}

bool lab_is_up(const struct lab *lab)
{
    return lab_ended_server(lab) == NULL;
}

/* The lock file may be removed together with the lab while this process waits for
 * it.  Then the locked file is not the one that others will find, so the wait begins
 * again. */
static bool still_there(int fd, const char *path)
{
    struct stat mine, found;

    return fstat(fd, &mine) == 0 && stat(path, &found) == 0 &&
           mine.st_ino == found.st_ino;
}

bool lab_lock(struct lab *lab)
{
    char path[FILES_PATH_MAX];
    int64_t deadline_ns = monotonic_ns() + LOCK_WAIT_MS * 1000000LL;

    files_join(path, lab->dir, "lock");
    do {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0) {
            fprintf(stderr, "seckill: cannot open %s: %s\n", path, strerror(errno));
            return false;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && still_there(fd, path)) {
            lab->lock_fd = fd;
            return true;
        }
        close(fd);
    } while (monotonic_ns() < deadline_ns && interrupt_sleep_ms(20));
    fprintf(
        stderr,
        "seckill: another seckill command is starting, stopping or using the lab in "
        "%s\n"
        "  wait until it has ended, or give this one a lab of its own: --dir=OTHER\n",
        lab->dir);
    return false;
}

void lab_unlock(struct lab *lab)
{
    if (lab->lock_fd >= 0)
        close(lab->lock_fd);
    lab->lock_fd = -1;
}

bool lab_change_begin(struct lab *lab, bool *was_held)
{
    struct lab found;

    *was_held = lab->lock_fd >= 0;
    if (*was_held)
        return true;
    if (!lab_lock(lab))
        return false;
    if (!lab_state_read(&found, lab->dir) || strcmp(found.id, lab->id) != 0) {
        fprintf(stderr, "seckill: the lab in %s is gone\n", lab->dir);
        lab_unlock(lab);
        return false;
    }
    for (int i = 0; i < found.server_count; i++) {
        if (i >= lab->server_count)
            lab->servers[lab->server_count++] = found.servers[i]; /* another command's */
        lab->servers[i].child = found.servers[i].child;
    }
    lab->spare = found.spare;
    return true;
}

void lab_change_end(struct lab *lab, bool was_held)
{
    if (!was_held)
        lab_unlock(lab);
}

int lab_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_usec = ANSWER_MS * 1000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool lab_reserve_port(struct lab_server *server)
{
    bool ok = (server->placeholder_fd = port_hold(&server->port)) >= 0;

    for (int i = 0; ok && i < lab_role_peer_ports(server->role); i++)
        ok = (server->peer_placeholder_fds[i] = port_hold(&server->peer_ports[i])) >= 0;
    if (!ok)
        fprintf(stderr, "seckill: found no free port on 127.0.0.1: %s\n",
                strerror(errno));
    return ok;
}

static void release(int *placeholder_fd)
{
    if (*placeholder_fd >= 0)
        close(*placeholder_fd);
    *placeholder_fd = -1;
}

void lab_release_port(struct lab_server *server)
{
    release(&server->placeholder_fd);
    for (int i = 0; i < LAB_PEER_PORT_MAX; i++)
        release(&server->peer_placeholder_fds[i]);
}
