/* SPDX-License-Identifier: MIT */
/* lab_redis.c -- one Redis server of a lab: loopback only, a password, nothing on disk.
 */
#include "loadtest/lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ANSWER_MS = 500 };

static bool write_config(const struct lab *lab, const struct lab_server *server,
                         const char *path)
{
    char *text = NULL;
    bool ok;

    ok = asprintf(&text,
                  "bind 127.0.0.1\n"
                  "port %d\n"
                  "requirepass %s\n"
                  "save \"\"\n"
                  "appendonly no\n"
                  "dir \"%s\"\n"
                  "daemonize no\n"
                  "enable-debug-command local\n"
                  "tcp-backlog 128\n",
                  server->port, lab->redis_password, lab->dir) > 0 &&
         files_write(path, text);
    free(text);
    return ok;
}

bool lab_redis_start(struct lab *lab, struct lab_server *server)
{
    char config[FILES_PATH_MAX];
    const char *argv[] = {"redis-server", config, NULL};
    struct child_options options = child_options_default(argv);
    int log;
    bool ok;

    files_path(config, "%s/%s.conf", lab->dir, server->name);
    if (!write_config(lab, server, config)) {
        fprintf(stderr, "seckill: cannot write %s: %s\n", config, strerror(errno));
        return false;
    }
    log = lab_open_log(lab, server);
    options.stdout_fd = options.stderr_fd = log;
    options.death_signal = lab->owned ? SIGKILL : 0;
    ok = child_start(&server->child, &options);
    if (!ok)
        fprintf(stderr,
                "seckill: cannot start redis-server: %s\n"
                "  install it: apt-get install redis-server\n",
                strerror(errno));
    if (log >= 0)
        close(log);
    return ok;
}

/* Does the answer to AUTH and PING come? */
static bool talk(int fd, const char *password)
{
    char request[128], answer[64];
    size_t used = 0;
    int n = snprintf(request, sizeof request, "AUTH %s\r\nPING\r\n", password);

    if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        return false;
    while (used < sizeof answer - 1) {
        ssize_t got = recv(fd, answer + used, sizeof answer - 1 - used, 0);

        if (got <= 0)
            return false;
        used += (size_t)got;
        answer[used] = '\0';
        if (strstr(answer, "+PONG\r\n"))
            return true;
    }
    return false;
}

bool lab_redis_answers(const struct lab *lab, const struct lab_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_usec = ANSWER_MS * 1000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok;

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ok = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
         talk(fd, lab->redis_password);
    close(fd);
    return ok;
}
