/* SPDX-License-Identifier: MIT */
/* sentinel.c -- a Sentinel of a lab, and the topology of a Redis master, two replicas and three
 * Sentinels.
 *
 * Sentinels write the name of the master into their own configuration and into those of the Redis
 * servers.  So a lab writes each configuration once, and a server that is restarted keeps what the
 * Sentinels wrote. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/lab/kind.h"

enum {
    ANSWER_MAX = 8192,
    DOWN_AFTER_MS = 1000,
    FAILOVER_TIMEOUT_MS = 5000,
    QUORUM = LAB_COUNT_SENTINEL / 2 + 1,
    DISCARD_MS = 3000,
};

#define MASTER_NAME "shop"

static bool write_config(const struct lab *lab, const struct lab_server *server,
                         const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out;
    bool ok;

    if (access(path, F_OK) == 0)
        return true;
    out = memory_need(open_memstream(&text, &size));
    lab_redis_print_dir(lab, out);
    fprintf(out,
            "bind 127.0.0.1\n"
            "port %d\n"
            "daemonize no\n"
            "requirepass %s\n"
            "sentinel sentinel-pass %s\n"
            "sentinel monitor " MASTER_NAME " 127.0.0.1 %d %d\n"
            "sentinel auth-user " MASTER_NAME " " LAB_PEER_USER "\n"
            "sentinel auth-pass " MASTER_NAME " %s\n"
            "sentinel down-after-milliseconds " MASTER_NAME " %d\n"
            "sentinel failover-timeout " MASTER_NAME " %d\n",
            server->port, lab->redis_password, lab->redis_password,
            lab_port(lab, LAB_WATCHED, 0), QUORUM, lab->redis_password, DOWN_AFTER_MS,
            FAILOVER_TIMEOUT_MS);
    fclose(out);
    ok = files_write_secret(path, text);
    free(text);
    return ok;
}

static bool start(struct lab *lab, struct lab_server *server,
                  const struct lab_topology_row *topology)
{
    char config[FILES_PATH_MAX];
    const char *argv[] = {"redis-server", config, "--sentinel", NULL};
    struct child_options options = child_options_default(argv);

    (void)topology; /* the configuration of a Sentinel only names the master */
    files_path(config, "%s/%s.conf", lab->dir, server->name);
    if (!write_config(lab, server, config)) {
        eprintf("seckill: cannot write %s: %s\n", config, strerror(errno));
        return false;
    }
    options.death_signal = SIGKILL;
    return lab_server_run(lab, server, &options, "redis-server");
}

/* The port of the master that the Sentinel on `port` names; 0: none, or no answer. */
static int named_port(const struct lab *lab, int port)
{
    char answer[ANSWER_MAX];
    const char *at;

    if (!lab_redis_ask(lab, port, "INFO sentinel", answer, sizeof answer))
        return 0;
    at = strstr(answer, ",address=127.0.0.1:");
    return at != NULL ? atoi(strchr(at, ':') + 1) : 0;
}

static void describe(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX])
{
    int port = named_port(lab, server->port);

    if (port != 0)
        snprintf(out, LAB_PART_MAX, "names 127.0.0.1:%d", port);
    else
        snprintf(out, LAB_PART_MAX, "names no master");
}

const struct lab_kind_row lab_kind_sentinel = {
    .name = "sentinel",
    .start = start,
    .answers = lab_redis_answers,
    .describe = describe,
    .discard_ms = DISCARD_MS,
};

/* Without rdb-del-sync-files a replica would load the file of its first copy after a restart.
 * Replicas and Sentinels have a login of their own, so that a fault can refuse them and not the
 * clients. */
static void configure(const struct lab *lab, const struct lab_server *server, FILE *out)
{
    fprintf(out,
            "rdb-del-sync-files yes\n"
            "user " LAB_PEER_USER " on >%s ~* &* +@all\n"
            "masteruser " LAB_PEER_USER "\n",
            lab->redis_password);
    if (server->node > 0)
        fprintf(out, "replicaof 127.0.0.1 %d\n", lab_port(lab, LAB_WATCHED, 0));
}

/* One master, to which all others are connected. */
static bool redis_stands(const struct lab *lab, char why[LAB_WHY_MAX])
{
    char answer[ANSWER_MAX], others[32];
    int masters = 0;

    snprintf(others, sizeof others, "connected_slaves:%d\r\n", LAB_COUNT_WATCHED - 1);
    for (int i = 0; i < LAB_COUNT_WATCHED; i++) {
        const char *name = lab_server_name(lab, LAB_WATCHED, i);

        if (!lab_redis_ask(lab, lab_port(lab, LAB_WATCHED, i), "INFO replication", answer,
                           sizeof answer)) {
            snprintf(why, LAB_WHY_MAX, "%s does not answer", name);
            return false;
        }
        if (strstr(answer, "role:master") == NULL) {
            if (strstr(answer, "master_link_status:up") != NULL)
                continue;
            snprintf(why, LAB_WHY_MAX, "%s is not connected to its master", name);
            return false;
        }
        masters++;
        if (strstr(answer, others) == NULL) {
            snprintf(why, LAB_WHY_MAX, "%s is a master without %d replicas", name,
                     LAB_COUNT_WATCHED - 1);
            return false;
        }
    }
    if (masters == 1)
        return true;
    snprintf(why, LAB_WHY_MAX, "%d of the Redis servers are masters", masters);
    return false;
}

static bool sentinel_stands(const struct lab *lab, const char *name, int port,
                            char why[LAB_WHY_MAX])
{
    char answer[ANSWER_MAX], peers[48];

    snprintf(peers, sizeof peers, ",slaves=%d,sentinels=%d", LAB_COUNT_WATCHED - 1,
             LAB_COUNT_SENTINEL);
    if (!lab_redis_ask(lab, port, "SENTINEL CKQUORUM " MASTER_NAME, answer, sizeof answer)) {
        snprintf(why, LAB_WHY_MAX, "%s does not answer", name);
        return false;
    }
    if (strncmp(answer, "+OK", 3) != 0) {
        snprintf(why, LAB_WHY_MAX, "%s says: %.*s", name, (int)strcspn(answer, "\r"), answer);
        return false;
    }
    if (lab_redis_ask(lab, port, "INFO sentinel", answer, sizeof answer) &&
        strstr(answer, "status=ok") != NULL && strstr(answer, peers) != NULL)
        return true;
    snprintf(why, LAB_WHY_MAX, "%s does not know a master, %d replicas and %d Sentinels", name,
             LAB_COUNT_WATCHED - 1, LAB_COUNT_SENTINEL);
    return false;
}

static bool stands(const struct lab *lab, enum lab_role role, char why[LAB_WHY_MAX])
{
    if (role == LAB_WATCHED)
        return redis_stands(lab, why);
    for (int i = 0; i < LAB_COUNT_SENTINEL; i++)
        if (!sentinel_stands(lab, lab_server_name(lab, LAB_SENTINEL, i),
                             lab_port(lab, LAB_SENTINEL, i), why))
            return false;
    return true;
}

/* The Redis server that most Sentinels name. */
static int leader(const struct lab *lab, enum lab_role role)
{
    return lab_named_leader(lab, role, LAB_SENTINEL, named_port);
}

static bool promote(const struct lab *lab, char why[LAB_WHY_MAX])
{
    char answer[ANSWER_MAX];

    snprintf(why, LAB_WHY_MAX, "no Sentinel answers");
    for (int i = 0; i < LAB_COUNT_SENTINEL; i++) {
        if (!lab_redis_ask(lab, lab_port(lab, LAB_SENTINEL, i), "SENTINEL FAILOVER " MASTER_NAME,
                           answer, sizeof answer))
            continue;
        if (strncmp(answer, "+OK", 3) == 0)
            return true;
        snprintf(why, LAB_WHY_MAX, "%s says: %.*s", lab_server_name(lab, LAB_SENTINEL, i),
                 (int)strcspn(answer, "\r"), answer);
    }
    return false;
}

static void address(const struct lab *lab, char *out)
{
    int used = snprintf(out, LAB_ADDRESS_MAX, "redis-sentinel://:%s@", lab->redis_password);

    for (int i = 0; i < LAB_COUNT_SENTINEL; i++)
        used += snprintf(out + used, LAB_ADDRESS_MAX - (size_t)used, "%s127.0.0.1:%d",
                         i > 0 ? "," : "", lab_port(lab, LAB_SENTINEL, i));
    snprintf(out + used, LAB_ADDRESS_MAX - (size_t)used,
             "/" MASTER_NAME "?sentinel-password=%s", lab->redis_password);
}

const struct lab_topology_row lab_topology_sentinel = {
    .configure = configure,
    .stands = stands,
    .leader = leader,
    .role = LAB_WATCHED,
    .promote = promote,
    .variable = "SECKILL_LAB_SENTINEL_URL",
    .address = address,
    .keeps_configuration = true,
};
