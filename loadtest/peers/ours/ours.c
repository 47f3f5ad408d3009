/* SPDX-License-Identifier: MIT */
/* ours.c -- pairs of acquire and release by this library, for peers.py.
 *
 *     peers-ours SETTING SERVERS PREFIX FILE
 *
 * ../README.md has the command line and the lines that are read and printed, which are the
 * same for each peer.  SETTING is the name of a lock, perhaps with a colon and the
 * number of hand-overs inside the process behind it: fair:64. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lock/dlock.h"

enum { IN_FLIGHT_MAX = 1024, GUARD_WORDS = 2, PATIENCE_MS = 20000 };

/* What all workers of a slice share. */
struct slice {
    dlock_system *sys;
    const char *prefix;
    volatile int64_t *guard; /* pairs, and who is inside */
    bool is_hot;
    int64_t deadline_ns;
};

struct worker {
    const struct slice *slice;
    pthread_t thread;
    int index;
    int64_t pairs, total, overlaps, errors;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The guarded section: neither word is atomic, so two holders at once lose a count or see
 * each other. */
static void be_inside(struct worker *w)
{
    volatile int64_t *guard = w->slice->guard;
    int64_t me = (int64_t)getpid() * IN_FLIGHT_MAX + w->index;

    guard[1] = me;
    guard[0] = guard[0] + 1;
    w->overlaps += guard[1] != me;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    const struct slice *slice = w->slice;
    char name[DLOCK_NAME_MAX + 1];

    if (slice->is_hot)
        snprintf(name, sizeof name, "%s:hot", slice->prefix);
    else
        snprintf(name, sizeof name, "%s:%d:%d", slice->prefix, (int)getpid(), w->index);
    while (now_ns() < slice->deadline_ns) {
        dlock_lease lease;
        dlock_status st = dlock_acquire(slice->sys, name, -1, &lease);

        if (st == DLOCK_OK) {
            if (slice->is_hot)
                be_inside(w);
            st = dlock_release(slice->sys, &lease);
        }
        if (st != DLOCK_OK) {
            fprintf(stderr, "peers-ours: %s: %s\n", dlock_status_text(st), dlock_error());
            w->errors++;
            break;
        }
        w->total++;
        w->pairs += now_ns() < slice->deadline_ns;
    }
    return NULL;
}

/* Run a slice, and print its line. */
static bool run_slice(struct slice *slice, int in_flight, int64_t duration_ms)
{
    static struct worker workers[IN_FLIGHT_MAX];
    struct worker sum = {0};

    slice->deadline_ns = now_ns() + duration_ms * 1000000;
    for (int i = 0; i < in_flight; i++) {
        workers[i] = (struct worker){.slice = slice, .index = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "peers-ours: no thread %d\n", i);
            return false;
        }
    }
    for (int i = 0; i < in_flight; i++) {
        pthread_join(workers[i].thread, NULL);
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

static bool open_system(char *setting, const char *servers, dlock_system **out)
{
    dlock_options options = dlock_options_default();
    char *colon = strchr(setting, ':');

    if (colon) {
        *colon = '\0';
        options.handover = strtol(colon + 1, NULL, 10);
    }
    options.variant = setting;
    options.redis_url = servers;
    options.redlock_urls = servers;
    options.zookeeper_url = servers;
    /* A server that a busy machine keeps waiting is no dead server here. */
    options.redis_timeout_ms = PATIENCE_MS;
    options.redlock_node_timeout_ms = PATIENCE_MS;
    options.zookeeper_timeout_ms = PATIENCE_MS;
    return dlock_open(out, &options) == DLOCK_OK;
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
    if (!slice.guard || !open_system(argv[1], argv[2], &slice.sys)) {
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
    dlock_close(slice.sys);
    return 0;
}
