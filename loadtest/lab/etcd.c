/* SPDX-License-Identifier: MIT */
/* etcd.c -- a member of an etcd of a lab, and an etcd of one member alone.
 *
 * The members elect a leader within half a second, so they grant leases of a second: etcd
 * grants none that is shorter than one and a half times the time of an election. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/lab/kind.h"

enum {
    DISCARD_MS = 3000,
    URL_SIZE = 48,
    NAME_SIZE = 64,
    MEMBERS_SIZE = 512,
    REQUEST_SIZE = 64,
    CHUNK_SIZE = 1 << 16,
};

/* The name of a member is of this lab only, since another lab's server may have the port. */
static void name_of(const struct lab *lab, const struct lab_server *server, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%s-%s", server->name, lab->id);
}

static void peer_url_of(const struct lab_server *server, char out[URL_SIZE])
{
    snprintf(out, URL_SIZE, "http://127.0.0.1:%d", server->peer_ports[0]);
}

/* All members, as each has to know them when it starts for the first time. */
static void describe_members(const struct lab *lab, enum lab_role role, char out[MEMBERS_SIZE])
{
    size_t len = 0;

    out[0] = '\0';
    for (int i = 0; i < lab->server_count && len < MEMBERS_SIZE; i++) {
        const struct lab_server *server = &lab->servers[i];
        char name[NAME_SIZE], url[URL_SIZE];

        if (server->role != role)
            continue;
        name_of(lab, server, name);
        peer_url_of(server, url);
        len += (size_t)snprintf(out + len, MEMBERS_SIZE - len, "%s%s=%s", len > 0 ? "," : "",
                                name, url);
    }
}

static void url(const struct lab *lab, int port, int database, char *out, size_t size)
{
    (void)lab;
    (void)database;
    snprintf(out, size, "http://127.0.0.1:%d", port);
}

static bool start(struct lab *lab, struct lab_server *server,
                  const struct lab_topology_row *topology)
{
    char client_url[URL_SIZE], peer_url[URL_SIZE], name[NAME_SIZE], members[MEMBERS_SIZE];
    char data[FILES_PATH_MAX];
    const char *argv[] = {"etcd", "--name", name, "--data-dir", data,
                          "--listen-client-urls", client_url,
                          "--advertise-client-urls", client_url,
                          "--listen-peer-urls", peer_url,
                          "--initial-advertise-peer-urls", peer_url,
                          "--initial-cluster", members,
                          "--heartbeat-interval", "50", "--election-timeout", "500",
                          "--logger", "zap", "--log-level", "warn", NULL};
    struct child_options options = child_options_default(argv);

    (void)topology;
    files_path(data, "%s/%s", lab->data_root, server->name);
    url(lab, server->port, 0, client_url, sizeof client_url);
    peer_url_of(server, peer_url);
    name_of(lab, server, name);
    describe_members(lab, server->role, members);
    options.death_signal = SIGKILL;
    return lab_server_run(lab, server, &options, "etcd-server");
}

/* GET from a member.  The caller frees the answer; NULL: none came whole. */
static char *get(const struct lab_server *server, const char *path)
{
    int fd = lab_connect(server->port);
    char request[REQUEST_SIZE], *answer = NULL;
    size_t size = 0, used = 0;
    ssize_t got = -1;
    int len = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n\r\n", path);

    if (fd < 0)
        return NULL;
    if (send(fd, request, (size_t)len, MSG_NOSIGNAL) == len) {
        do {
            if (used + 1 >= size)
                answer = memory_need(realloc(answer, size += CHUNK_SIZE));
            got = recv(fd, answer + used, size - 1 - used, 0);
            used += got > 0 ? (size_t)got : 0;
        } while (got > 0);
    }
    close(fd);
    if (got == 0) {
        answer[used] = '\0';
        return answer;
    }
    free(answer);
    return NULL;
}

/* Does the text at `path` have that in it? */
static bool says(const struct lab_server *server, const char *path, const char *text)
{
    char *answer = get(server, path);
    bool has_it = answer != NULL && strstr(answer, text) != NULL;

    free(answer);
    return has_it;
}

/* A member of several is up before it has a leader. */
static bool answers(const struct lab *lab, const struct lab_server *server)
{
    char name[NAME_SIZE + 2], own[NAME_SIZE];

    name_of(lab, server, own);
    snprintf(name, sizeof name, "\"%s\"", own);
    if (lab_role_count(server->role) == 1)
        return says(server, "/health", "\"true\"") && says(server, "/debug/vars", name);
    return says(server, "/debug/vars", name);
}

static void describe(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX])
{
    char *metrics = get(server, "/metrics");

    (void)lab;
    out[0] = '\0';
    if (metrics != NULL && strstr(metrics, "\netcd_server_has_leader 1") == NULL)
        snprintf(out, LAB_PART_MAX, "without a leader");
    else if (metrics != NULL)
        snprintf(out, LAB_PART_MAX, "%s",
                 strstr(metrics, "\netcd_server_is_leader 1") != NULL ? "leader" : "follower");
    free(metrics);
}

const struct lab_kind_row lab_kind_etcd = {
    .name = "etcd",
    .start = start,
    .answers = answers,
    .describe = describe,
    .url = url,
    .discard_ms = DISCARD_MS,
};

/* One member alone: its store's address is enough. */
const struct lab_topology_row lab_topology_etcd = {0};
