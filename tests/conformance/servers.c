/* SPDX-License-Identifier: MIT */
/* servers.c -- reads and changes the Redis servers of a variant directly, without the
 * library. */
#include "tests/conformance/servers.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/redis/url.h"
#include "tests/conformance/rig.h"

enum { URLS_SIZE = 512, PATH_SIZE = 80 };

static struct server {
    pid_t pid;
    redisContext *side;
    struct redis_url url;
} servers[SERVERS_MAX];

static size_t found_count;
static char dir[64];
static char own_urls[URLS_SIZE];
static int64_t *clock_ahead_ns; /* of servers started with a clock of their own */

static void hang_up(struct server *server)
{
    if (server->side != NULL)
        redisFree(server->side);
    server->side = NULL;
}

static void go_to(struct redis_url *url, const char *host, int port)
{
    if (host != url->host)
        snprintf(url->host, sizeof(url->host), "%s", host);
    url->port = port;
}

static bool connect_side(struct server *server)
{
    const struct redis_url *url = &server->url;
    redisReply *reply = NULL;

    server->side = url->path[0] != '\0' ? redisConnectUnix(url->path)
                                        : redisConnect(url->host, url->port);
    if (server->side != NULL && server->side->err == 0) {
        reply = url->password[0] != '\0'
                    ? redisCommand(server->side, "AUTH %s", url->password)
                    : redisCommand(server->side, "PING");
    }
    if (reply == NULL || reply->type == REDIS_REPLY_ERROR) {
        freeReplyObject(reply);
        hang_up(server);
        return false;
    }
    freeReplyObject(reply);
    return true;
}

/* If the URL names a cluster, connect to it. The cluster counts as one server, and its connection
 * goes to the node that a command is for. */
static bool find_cluster(const char *text)
{
    struct server *server = &servers[0];
    char why[160];

    assert_true(redis_url_parse(text, &server->url, why, sizeof(why)));
    if (server->url.seed_count == 0)
        return false;
    hang_up(server);
    go_to(&server->url, server->url.seeds[0].host, server->url.seeds[0].port);
    assert_true(connect_side(server));
    found_count = 1;
    return true;
}

size_t servers_find(const dlock_options *opts)
{
    bool many = rig_uses_nodes(opts->variant);
    char urls[URLS_SIZE];
    char *rest = urls;
    char why[160];

    if (!(rig_caps(opts->variant) & DLOCK_CAP_EXPIRES))
        return 0;
    snprintf(urls, sizeof(urls), "%s", many ? opts->redlock_urls : opts->redis_url);
    if (!many && find_cluster(opts->redis_url))
        return found_count;
    for (found_count = 0; rest != NULL && found_count < SERVERS_MAX; found_count++) {
        struct server *server = &servers[found_count];

        hang_up(server);
        assert_true(
            redis_url_parse(strsep(&rest, ","), &server->url, why, sizeof(why)));
        assert_true(connect_side(server));
    }
    return found_count;
}

size_t servers_found(void)
{
    return found_count;
}

/* After a fork() beside other threads, which may hold the allocator's mutex, only
 * async-signal-safe calls are allowed. */
static void run_server(const char *path)
{
    int nowhere = open("/dev/null", O_WRONLY);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(127);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path,
           "--save", "", "--appendonly", "no", "--dir", dir, (char *)NULL);
    _exit(127);
}

/* Start a server without waiting for it; await() waits. */
static void launch(size_t which)
{
    struct server *server = &servers[which];
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/%zu", dir, which);
    unlink(path);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0)
        run_server(path);
    memset(&server->url, 0, sizeof(server->url));
    strcpy(server->url.path, path);
}

static void await(size_t which)
{
    assert_comes(connect_side(&servers[which]));
}

void servers_start(dlock_options *opts)
{
    bool many = rig_uses_nodes(opts->variant);
    size_t count = many ? SERVERS_MAX : 1;
    size_t len = 0;

    snprintf(dir, sizeof(dir), "/tmp/seckill-conformance-XXXXXX");
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < count; i++) {
        hang_up(&servers[i]);
        len += (size_t)snprintf(own_urls + len, sizeof(own_urls) - len,
                                "%sunix://%s/%zu", i > 0 ? "," : "", dir, i);
        launch(i);
    }
    for (size_t i = 0; i < count; i++)
        await(i);
    opts->redis_url = own_urls;
    opts->redlock_urls = own_urls;
    found_count = count;
}

/* Make the file from which servers that are started from now on read their wall clock. */
static void give_clock(void)
{
    char *library = realpath("build/wall_clock.so", NULL);
    char path[PATH_SIZE];
    int fd;

    snprintf(path, sizeof(path), "/tmp/seckill-clock-XXXXXX");
    fd = mkstemp(path);
    assert_true(library != NULL && fd >= 0);
    assert_int_equal(0, ftruncate(fd, sizeof(*clock_ahead_ns)));
    clock_ahead_ns = mmap(NULL, sizeof(*clock_ahead_ns), PROT_READ | PROT_WRITE,
                          MAP_SHARED, fd, 0);
    assert_ptr_not_equal(MAP_FAILED, clock_ahead_ns);
    close(fd);
    setenv("LD_PRELOAD", library, 1);
    setenv("SECKILL_WALL_CLOCK", path, 1);
    free(library);
}

/* Delete the file: the servers have mapped it by now. */
static void take_clock(void)
{
    const char *path = getenv("SECKILL_WALL_CLOCK");

    assert(path != NULL); /* give_clock() has set it */
    unlink(path);
    unsetenv("SECKILL_WALL_CLOCK");
    unsetenv("LD_PRELOAD");
}

void servers_start_with_clock(dlock_options *opts)
{
    give_clock();
    servers_start(opts);
    take_clock();
}

void servers_set_clock(int64_t ahead_ms)
{
    assert_non_null(clock_ahead_ns);
    __atomic_store_n(clock_ahead_ns, ahead_ms * DLOCK_NS_PER_MS, __ATOMIC_SEQ_CST);
}

void servers_signal(size_t first, size_t count, int signal_number)
{
    for (size_t i = first; i < first + count; i++) {
        assert_true(servers[i].pid > 0);
        kill(servers[i].pid, signal_number);
        if (signal_number == SIGKILL) {
            waitpid(servers[i].pid, NULL, 0);
            servers[i].pid = 0;
            hang_up(&servers[i]);
        } else if (signal_number == SIGSTOP) {
            waitpid(servers[i].pid, NULL, WUNTRACED);
        }
    }
}

void servers_restart(size_t which)
{
    launch(which);
    await(which);
}

void servers_restart_all(void)
{
    for (size_t i = 0; i < found_count; i++)
        launch(i);
    for (size_t i = 0; i < found_count; i++)
        await(i);
}

void servers_wake(void)
{
    for (size_t i = 0; i < SERVERS_MAX; i++)
        if (servers[i].pid > 0)
            kill(servers[i].pid, SIGCONT);
}

void servers_leave(void)
{
    char path[PATH_SIZE];

    if (dir[0] == '\0')
        return;
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        snprintf(path, sizeof(path), "%s/%zu", dir, i);
        unlink(path);
    }
    rmdir(dir);
    dir[0] = '\0';
}

void servers_stop(void)
{
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        hang_up(&servers[i]);
        if (servers[i].pid > 0) {
            kill(servers[i].pid, SIGKILL);
            waitpid(servers[i].pid, NULL, 0);
        }
        servers[i].pid = 0;
    }
    servers_leave();
    if (clock_ahead_ns != NULL)
        munmap(clock_ahead_ns, sizeof(*clock_ahead_ns));
    clock_ahead_ns = NULL;
    found_count = 0;
}

/* A node has answered "MOVED slot host:port": connect to that node. */
static void follow(struct server *server, const char *moved)
{
    char host[64];
    int port;

    assert_int_equal(2, sscanf(moved, "MOVED %*d %63[0-9.]:%d", host, &port));
    hang_up(server);
    go_to(&server->url, host, port);
    assert_true(connect_side(server));
}

static const redisReply *tell(size_t which, const char *fmt, va_list args)
{
    static redisReply *last;
    va_list again;

    assert_true(which < found_count);
    if (last != NULL)
        freeReplyObject(last);
    va_copy(again, args);
    last = redisvCommand(servers[which].side, fmt, args);
    if (last != NULL && last->type == REDIS_REPLY_ERROR && strncmp(last->str, "MOVED ", 6) == 0) {
        follow(&servers[which], last->str);
        freeReplyObject(last);
        last = redisvCommand(servers[which].side, fmt, again);
    }
    va_end(again);
    if (last == NULL)
        print_error("%s: %s\n", fmt, servers[which].side->errstr);
    assert_non_null(last);
    return last;
}

const redisReply *servers_tell(size_t which, const char *fmt, ...)
{
    const redisReply *reply;
    va_list args;

    va_start(args, fmt);
    reply = tell(which, fmt, args);
    va_end(args);
    return reply;
}

long long servers_ask(size_t which, const char *fmt, ...)
{
    const redisReply *reply;
    va_list args;

    va_start(args, fmt);
    reply = tell(which, fmt, args);
    va_end(args);
    assert_int_equal(REDIS_REPLY_INTEGER, reply->type);
    return reply->integer;
}

long long servers_count_held(const char *variant, const char *name)
{
    const redisReply *reply;

    if (!rig_is(variant, "getset"))
        return servers_count_keys(name);
    reply = servers_tell(0, "GET %s", name);
    return reply->type == REDIS_REPLY_STRING &&
           strtoll(reply->str, NULL, 10) >= dlock_clock_wall_ms();
}

long long servers_count_keys(const char *name)
{
    long long count = 0;

    for (size_t i = 0; i < found_count; i++)
        count += servers_ask(i, "EXISTS %s", name);
    return count;
}
