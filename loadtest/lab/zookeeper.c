/* SPDX-License-Identifier: MIT */
/* zookeeper.c -- a ZooKeeper server of a lab: Debian's classes, its own directory.
 *
 * The server listens on the loopback only, has no password (ZooKeeper has none for a
 * server as a whole), and lets sessions be as short as the hazards need them. */
#include "loadtest/lab/lab.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lock/store.h"

enum { ANSWER_MS = 500 };

/* The second jar prints the log messages of the first. */
#define JARS "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

bool lab_lock_needs_zookeeper(const char *lock)
{
    const struct dlock_variant_info *found = dlock_variant_find(lock);

    return found && dlock_store_of(found) == DLOCK_STORE_ZOOKEEPER;
}

static bool write_config(const struct lab *lab, const struct lab_server *server,
                         const char *path)
{
    char *text = NULL;
    bool ok;

    ok = asprintf(&text,
                  "dataDir=%s/zookeeper\n"
                  "clientPort=%d\n"
                  "clientPortAddress=127.0.0.1\n"
                  "maxClientCnxns=0\n"
                  "tickTime=200\n"
                  "minSessionTimeout=400\n"
                  "maxSessionTimeout=86400000\n"
                  "admin.enableServer=false\n"
                  "4lw.commands.whitelist=ruok,conf,srvr,mntr,cons,dump,wchs,"
                  "wchp\n",
                  lab->data_root, server->port) > 0 &&
         files_write(path, text);
    free(text);
    return ok;
}

static bool say_install(void)
{
    fprintf(stderr,
            "  install it: apt-get install libzookeeper-java default-jre-headless\n");
    return false;
}

bool lab_zookeeper_start(struct lab *lab, struct lab_server *server)
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
                          "org.apache.zookeeper.server.ZooKeeperServerMain",
                          config,
                          NULL};
    struct child_options options = child_options_default(argv);

    if (access("/usr/share/java/zookeeper.jar", R_OK) != 0) {
        fprintf(stderr, "seckill: cannot start ZooKeeper: there is no "
                        "/usr/share/java/zookeeper.jar\n");
        return say_install();
    }
    files_path(config, "%s/%s.conf", lab->dir, server->name);
    if (!write_config(lab, server, config)) {
        fprintf(stderr, "seckill: cannot write %s: %s\n", config, strerror(errno));
        return false;
    }
    options.death_signal = SIGKILL;
    /* A placeholder does not work here, because Java does not set SO_REUSEADDR as it
     * needs. */
    lab_release_port(server);
    if (lab_server_run(lab, server, &options))
        return true;
    return errno == ENOENT ? say_install() : false;
}

bool lab_zookeeper_ask(int port, const char *four_letters, char *answer, size_t size)
{
    struct timeval limit = {.tv_usec = ANSWER_MS * 1000};
    int fd = lab_connect(port);
    size_t used = 0;
    ssize_t got = -1;

    answer[0] = '\0';
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (send(fd, four_letters, 4, MSG_NOSIGNAL) == 4) {
        while (used + 1 < size &&
               (got = recv(fd, answer + used, size - 1 - used, 0)) > 0)
            used += (size_t)got;
    }
    answer[used] = '\0';
    close(fd);
    return got == 0;
}

bool lab_zookeeper_answers(const struct lab *lab, const struct lab_server *server)
{
    char want[FILES_PATH_MAX + 32];
    char answer[FILES_PATH_MAX + 1024];

    lab_zookeeper_ask(server->port, "ruok", answer, sizeof answer);
    if (strcmp(answer, "imok") != 0)
        return false;
    /* Between the placeholder and java another's server may have taken the port. */
    snprintf(want, sizeof want, "dataDir=%s/zookeeper/", lab->data_root);
    lab_zookeeper_ask(server->port, "conf", answer, sizeof answer);
    return strstr(answer, want) != NULL;
}
