/* SPDX-License-Identifier: MIT */
/* redis.c -- one Redis server of a lab: loopback only, a password, and nothing on disk unless
 * it is told to keep an append-only file.
 */
#include "loadtest/lab/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/kit/shell.h"

enum { LOG_NAME_MAX = 24, INFO_MAX = 8192, REQUEST_MAX = 256, DISCARD_MS = 3000 };

/* The name of the directory of its append-only file. */
static const char *log_name(const struct lab_server *server, char *name, size_t size)
{
    snprintf(name, size, "%s.aof", *server->replaces ? server->replaces : server->name);
    return name;
}

void lab_redis_log_path(const struct lab *lab, const struct lab_server *server, char *out)
{
    char name[LOG_NAME_MAX];

    files_path(out, "%s/%s", lab->dir, log_name(server, name, sizeof name));
}

/* A server that was told to keep an append-only file (CONFIG SET appendonly yes) has the
 * file from then on, and a restart continues it, with each write on disk before its
 * answer.  The spare server starts without, since the server that it may replace writes to
 * that file. */
static bool keeps_log(const struct lab *lab, const struct lab_server *server)
{
    char path[FILES_PATH_MAX];

    lab_redis_log_path(lab, server, path);
    return !*server->replaces && access(path, F_OK) == 0;
}

void lab_redis_print_dir(const struct lab *lab, FILE *out)
{
    fputs("dir \"", out);
    backslash_print(out, lab->dir, "\"\\");
    fputs("\"\n", out);
}

static bool write_config(const struct lab *lab, const struct lab_server *server,
                         const struct lab_topology_row *topology, const char *path)
{
    char *text = NULL, name[LOG_NAME_MAX];
    size_t size = 0;
    FILE *out;
    bool ok;

    if (topology->keeps_configuration && access(path, F_OK) == 0)
        return true;
    out = memory_need(open_memstream(&text, &size));
    fprintf(out,
            "bind 127.0.0.1\n"
            "port %d\n"
            "requirepass %s\n"
            "masterauth %s\n"
            "save \"\"\n"
            "appendonly %s\n"
            "appendfsync always\n"
            "appenddirname \"%s\"\n"
            "dbfilename %s.rdb\n"
            "repl-diskless-sync-delay 0\n"
            "daemonize no\n"
            "enable-debug-command local\n"
            "enable-protected-configs local\n"
            "tcp-backlog 128\n",
            server->port, lab->redis_password, lab->redis_password,
            keeps_log(lab, server) ? "yes" : "no", log_name(server, name, sizeof name),
            server->name);
    lab_redis_print_dir(lab, out);
    if (topology->configure)
        topology->configure(lab, server, out);
    fclose(out);
    ok = files_write_secret(path, text);
    free(text);
    return ok;
}

void lab_redis_data_path(const struct lab *lab, const struct lab_server *server,
                         char *out)
{
    files_path(out, "%s/%s.rdb", lab->dir, server->name);
}

void lab_redis_clock_path(const struct lab *lab, const struct lab_server *server,
                          char *out)
{
    files_path(out, "%s/%s.clock", lab->dir, server->name);
}

bool lab_redis_set_clock(const struct lab *lab, const struct lab_server *server,
                         int64_t ahead_ms)
{
    int64_t ahead_ns = ahead_ms * 1000000;
    char path[FILES_PATH_MAX];
    bool ok;
    int fd;

    lab_redis_clock_path(lab, server, path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    /* Written in place, because the server has mapped the file. */
    ok = fd >= 0 && pwrite(fd, &ahead_ns, sizeof ahead_ns, 0) == sizeof ahead_ns;
    if (!ok)
        eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

/* The environment that makes a server's wall clock, and no other clock, go by a file. */
struct clock_environment {
    char path[FILES_PATH_MAX], preload[FILES_PATH_MAX], file[FILES_PATH_MAX];
    char *entries[4];
};

static bool make_environment(struct clock_environment *e, const struct lab *lab,
                             const struct lab_server *server)
{
    const char *path = getenv("PATH");
    char library[FILES_PATH_MAX], clock[FILES_PATH_MAX];

    if (!files_find_data(library, "wall_clock.so")) {
        eprintf("seckill: there is no wall_clock.so beside this program, which "
                        "moves a server's clock\n  build it: make all\n");
        return false;
    }
    if (!lab_redis_set_clock(lab, server, 0))
        return false;
    lab_redis_clock_path(lab, server, clock);
    files_path(e->path, "PATH=%s", path ? path : "/usr/bin:/bin");
    files_path(e->preload, "LD_PRELOAD=%s", library);
    files_path(e->file, "SECKILL_WALL_CLOCK=%s", clock);
    e->entries[0] = e->path;
    e->entries[1] = e->preload;
    e->entries[2] = e->file;
    e->entries[3] = NULL;
    return true;
}

static bool start(struct lab *lab, struct lab_server *server,
                  const struct lab_topology_row *topology)
{
    char config[FILES_PATH_MAX];
    const char *argv[] = {"redis-server", config, NULL};
    struct child_options options = child_options_default(argv);
    struct clock_environment environment;

    if (server->own_clock && !make_environment(&environment, lab, server))
        return false;
    files_path(config, "%s/%s.conf", lab->dir, server->name);
    if (!write_config(lab, server, topology, config)) {
        eprintf("seckill: cannot write %s: %s\n", config, strerror(errno));
        return false;
    }
    options.death_signal = SIGKILL;
    options.env = server->own_clock ? environment.entries : NULL;
    return lab_server_run(lab, server, &options, "redis-server");
}

/* Behind the answer that begins there; NULL: not all of it has come.  An array has texts and
 * numbers, and no arrays. */
static const char *end_of_answer(const char *at, const char *end)
{
    long count = at != NULL && *at == '*' ? strtol(at + 1, NULL, 10) : 0;

    for (long i = 0; i <= count; i++) {
        const char *line_end = at != NULL ? strstr(at, "\r\n") : NULL;
        long length = line_end != NULL && *at == '$' ? strtol(at + 1, NULL, 10) : -1;

        if (line_end == NULL || length < -1 || (length >= 0 && length > end - line_end - 4))
            return NULL;
        line_end += length >= 0 ? length + 4 : 2; /* the text, and the end of its line */
        at = line_end <= end ? line_end : NULL;
    }
    return at;
}

bool lab_redis_ask(const struct lab *lab, int port, const char *command, char *answer,
                   size_t size)
{
    const char *begin = NULL, *end = NULL;
    char request[REQUEST_MAX];
    int n = snprintf(request, sizeof request, "AUTH %s\r\n%s\r\n", lab->redis_password,
                     command);
    int fd = lab_connect(port);
    size_t used = 0;
    ssize_t got = 0;

    if (fd < 0)
        return false;
    if (n < (int)sizeof request && send(fd, request, (size_t)n, MSG_NOSIGNAL) == n) {
        while (end == NULL && ((got = recv(fd, answer + used, size - 1 - used, 0)) > 0 ||
                               (got < 0 && errno == EINTR))) {
            used += got > 0 ? (size_t)got : 0;
            answer[used] = '\0';
            begin = end_of_answer(answer, answer + used);
            end = end_of_answer(begin, answer + used);
        }
    }
    close(fd);
    if (end == NULL || strncmp(answer, "+OK\r\n", 5) != 0)
        return false;
    memmove(answer, begin, (size_t)(answer + used - begin) + 1);
    return true;
}

bool lab_redis_answers(const struct lab *lab, const struct lab_server *server)
{
    char answer[64];

    return lab_redis_ask(lab, server->port, "PING", answer, sizeof answer) &&
           strncmp(answer, "+PONG\r\n", 7) == 0;
}

/* The number behind "NAME:" in an INFO; 0: the server does not say it. */
static long info_number(const char *info, const char *name)
{
    const char *at = strstr(info, name);

    return at ? strtol(at + strlen(name), NULL, 10) : 0;
}

bool lab_redis_is_full(const struct lab *lab, const struct lab_server *server)
{
    char answer[INFO_MAX] = "";
    long most;

    if (!lab_redis_ask(lab, server->port, "INFO clients", answer, sizeof answer))
        return strncmp(answer, "-ERR max number of clients", 26) == 0;
    most = info_number(answer, "\nmaxclients:"); /* Redis 7 and later */
    return most > 0 && info_number(answer, "\nconnected_clients:") >= most;
}

static void describe(const struct lab *lab, const struct lab_server *server,
                     char out[LAB_PART_MAX])
{
    char answer[INFO_MAX];

    out[0] = '\0';
    if (!lab_redis_ask(lab, server->port, "INFO replication", answer, sizeof answer))
        return;
    if (strstr(answer, "role:master") != NULL)
        snprintf(out, LAB_PART_MAX, "master");
    else if (strstr(answer, "master_link_status:up") != NULL)
        snprintf(out, LAB_PART_MAX, "replica");
    else
        snprintf(out, LAB_PART_MAX, "replica without a master");
}

static void write_url(const struct lab *lab, int port, int database, char *out, size_t size)
{
    /* redis-cli -u of Redis 7.0 cannot log in with a URL without a user. */
    int used = snprintf(out, size, "redis://default:%s@127.0.0.1:%d", lab->redis_password, port);

    if (database > 0)
        snprintf(out + used, size - (size_t)used, "/%d", database);
}

const struct lab_kind_row lab_kind_redis = {
    .name = "redis",
    .start = start,
    .answers = lab_redis_answers,
    .describe = describe,
    .url = write_url,
    .discard_ms = DISCARD_MS,
};
