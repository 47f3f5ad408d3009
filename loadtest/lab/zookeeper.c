/* SPDX-License-Identifier: MIT */
/* zookeeper.c -- a ZooKeeper server of a lab: Debian's classes, its own directory.
 *
 * The server listens on the loopback only, has no password (ZooKeeper has none for a
 * server as a whole), and lets sessions be as short as the hazards need them. */
#include "loadtest/lab/kind.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/kit/shell.h"

enum { ANSWER_MAX = 2048, DISCARD_MS = 3000 };

#define PACKAGES "libzookeeper-java default-jre-headless"
/* The second jar prints the log messages of the first. */
#define JARS "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

static bool write_config(const struct lab *lab, const struct lab_server *server,
                         const struct lab_topology_row *topology, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    bool ok;

    fputs("dataDir=", out);
    backslash_print(out, lab->data_root, "\\");
    fprintf(out,
            "/%s\n"
            "clientPort=%d\n"
            "clientPortAddress=127.0.0.1\n"
            "maxClientCnxns=0\n"
            "tickTime=200\n"
            "minSessionTimeout=400\n"
            "maxSessionTimeout=86400000\n"
            "admin.enableServer=false\n"
            "4lw.commands.whitelist=ruok,conf,srvr,mntr,cons,dump,wchs,wchp\n",
            server->name, server->port);
    if (topology->configure)
        topology->configure(lab, server, out);
    fclose(out);
    ok = files_write(path, text);
    free(text);
    return ok;
}

static bool start(struct lab *lab, struct lab_server *server,
                  const struct lab_topology_row *topology)
{
    char config[FILES_PATH_MAX];
    const char *argv[] = {"java",
                          "-Xmx256m",
                          "-XX:+UseSerialGC",
                          "-XX:TieredStopAtLevel=1",
                          "-Djava.net.preferIPv4Stack=true",
                          "-Dzookeeper.jmx.log4j.disable=true",
                          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                          "-cp",
                          JARS,
                          "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                          config,
                          NULL};
    struct child_options options = child_options_default(argv);

    if (access("/usr/share/java/zookeeper.jar", R_OK) != 0) {
        eprintf("seckill: cannot start ZooKeeper: there is no /usr/share/java/zookeeper.jar\n");
        return lab_say_install(PACKAGES);
    }
    files_path(config, "%s/%s.conf", lab->dir, server->name);
    if (!write_config(lab, server, topology, config)) {
        eprintf("seckill: cannot write %s: %s\n", config, strerror(errno));
        return false;
    }
    options.death_signal = SIGKILL;
    /* Java does not set SO_REUSEADDR, so it cannot bind a port that a placeholder holds. */
    lab_release_port(server);
    return lab_server_run(lab, server, &options, PACKAGES);
}

bool lab_zookeeper_ask(int port, const char *four_letters, char *answer, size_t size)
{
    int fd = lab_connect(port);
    size_t used = 0;
    ssize_t got = -1;

    answer[0] = '\0';
    if (fd < 0)
        return false;
    if (send(fd, four_letters, 4, MSG_NOSIGNAL) == 4) {
        while (used + 1 < size &&
               (got = recv(fd, answer + used, size - 1 - used, 0)) > 0)
            used += (size_t)got;
    }
    answer[used] = '\0';
    close(fd);
    return got == 0;
}

/* A server of an ensemble answers this without a quorum too. */
static bool answers(const struct lab *lab, const struct lab_server *server)
{
    char want[FILES_PATH_MAX + 32];
    char answer[FILES_PATH_MAX + 1024];

    lab_zookeeper_ask(server->port, "ruok", answer, sizeof answer);
    if (strcmp(answer, "imok") != 0)
        return false;
    if (lab_role_count(server->role) > 1)
        return true;
    /* A server of another program may have taken the port after the placeholder was closed. */
    snprintf(want, sizeof want, "dataDir=%s/%s/", lab->data_root, server->name);
    lab_zookeeper_ask(server->port, "conf", answer, sizeof answer);
    return strstr(answer, want) != NULL;
}

/* "leader", "follower", "standalone", "in no quorum". */
static void describe(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX])
{
    char answer[ANSWER_MAX];
    const char *mode;

    (void)lab;
    out[0] = '\0';
    if (!lab_zookeeper_ask(server->port, "srvr", answer, sizeof answer))
        return;
    mode = strstr(answer, "Mode: ");
    if (mode != NULL)
        snprintf(out, LAB_PART_MAX, "%.*s", (int)strcspn(mode + 6, "\n"), mode + 6);
    else
        snprintf(out, LAB_PART_MAX, "in no quorum");
}

const struct lab_kind_row lab_kind_zookeeper = {
    .name = "zookeeper",
    .start = start,
    .answers = answers,
    .describe = describe,
    .discard_ms = DISCARD_MS,
    .may_lose_port = true,
};

/* One server alone: its store's address is enough. */
const struct lab_topology_row lab_topology_zookeeper = {0};
