/* SPDX-License-Identifier: MIT */
/* ours.c -- pairs of acquire and release by this library, for peers.py.
 *
 *     peers-ours SETTING SERVERS PREFIX FILE
 *
 * ../README.md has the command line and the lines that are read and printed, which are the
 * same for each peer.  SETTING is the name of a lock, perhaps with a colon and the
 * number of hand-overs inside the process behind it, fair:64, or with -async at its end, then
 * by asynchronous calls of one thread. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "loadtest/peers/ours/worker.h"

enum { GUARD_WORDS = 2, PATIENCE_MS = 20000 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    dlock_system *sys = w->slice->sys;

    while (worker_goes_on(w)) {
        dlock_lease lease;
        dlock_status st = dlock_acquire(sys, w->name, -1, &lease);

        if (st == DLOCK_OK) {
            worker_inside(w);
            st = dlock_release(sys, &lease);
        }
        if (st != DLOCK_OK) {
            worker_failed(w, st);
            break;
        }
        worker_done(w);
    }
    return NULL;
}

static bool threads_run(struct worker *workers, int in_flight)
{
    for (int i = 0; i < in_flight; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "peers-ours: no thread %d\n", i);
            return false;
        }
    }
    for (int i = 0; i < in_flight; i++)
        pthread_join(workers[i].thread, NULL);
    return true;
}

static void choose_name(struct worker *w)
{
    if (w->slice->is_hot)
        snprintf(w->name, sizeof w->name, "%s:hot", w->slice->prefix);
    else
        snprintf(w->name, sizeof w->name, "%s:%d:%d", w->slice->prefix, (int)getpid(), w->index);
}

/* Run a slice, and print its line. */
static bool run_slice(struct slice *slice, int in_flight, int64_t duration_ms)
{
    static struct worker workers[IN_FLIGHT_MAX];
    struct worker sum = {0};

    slice->deadline_ns = now_ns() + duration_ms * 1000000;
    for (int i = 0; i < in_flight; i++) {
        workers[i] = (struct worker){.slice = slice, .index = i};
        choose_name(&workers[i]);
    }
    if (slice->async)
        tasks_run(slice, workers, in_flight);
    else if (!threads_run(workers, in_flight))
        return false;
    for (int i = 0; i < in_flight; i++) {
        sum.pairs += workers[i].pairs;
        sum.total += workers[i].total;
        sum.overlaps += workers[i].overlaps;
        sum.errors += workers[i].errors;
    }
    printf("pairs=%lld total=%lld overlaps=%lld errors=%lld\n", (long long)sum.pairs,
           (long long)sum.total, (long long)sum.overlaps, (long long)sum.errors);
    return fflush(stdout) == 0;
}

static volatile int64_t *map_guard(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *words = fd < 0 ? MAP_FAILED
                         : mmap(NULL, GUARD_WORDS * sizeof(int64_t), PROT_READ | PROT_WRITE,
                                MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    return words == MAP_FAILED ? NULL : words;
}

/* Is `text` at the end of the setting?  Then it is cut off. */
static bool cut_end(char *setting, const char *text)
{
    char *at = strstr(setting, text);

    if (at)
        *at = '\0';
    return at != NULL;
}

static bool open_system(char *setting, const char *servers, struct slice *slice)
{
    dlock_options options = dlock_options_default();
    bool is_async = cut_end(setting, "-async");
    char *colon = strchr(setting, ':');

    if (colon) {
        *colon = '\0';
        options.handover = strtol(colon + 1, NULL, 10);
    }
    options.variant = setting;
    options.redis_url = servers;
    options.redlock_urls = servers;
    options.zookeeper_url = servers;
    options.etcd_url = servers;
    /* A long timeout, since a busy machine may delay a server that is not dead. */
    options.redis_timeout_ms = PATIENCE_MS;
    options.redlock_node_timeout_ms = PATIENCE_MS;
    options.zookeeper_timeout_ms = PATIENCE_MS;
    options.etcd_timeout_ms = PATIENCE_MS;
    return dlock_open(&slice->sys, &options) == DLOCK_OK &&
           (!is_async || dlock_async_open(&slice->async, slice->sys, 0) == DLOCK_OK);
}

int main(int argc, char **argv)
{
    struct slice slice = {0};
    char mode[8];
    int in_flight, duration_ms;

    if (argc != 5) {
        fprintf(stderr, "usage: peers-ours SETTING SERVERS PREFIX FILE\n");
        return 64;
    }
    slice.prefix = argv[3];
    slice.guard = map_guard(argv[4]);
    if (!slice.guard || !open_system(argv[1], argv[2], &slice)) {
        fprintf(stderr, "peers-ours: %s: %s\n", argv[1], slice.guard ? dlock_error() : argv[4]);
        return 69;
    }
    puts("ready");
    fflush(stdout);
    while (scanf("%7s %d %d", mode, &in_flight, &duration_ms) == 3) {
        slice.is_hot = strcmp(mode, "hot") == 0;
        if (in_flight < 1 || in_flight > IN_FLIGHT_MAX ||
            !run_slice(&slice, in_flight, duration_ms))
            return 64;
    }
    (void)dlock_async_close(slice.async);
    dlock_close(slice.sys);
    return 0;
}
