/* SPDX-License-Identifier: MIT */
/* peer_contention.c -- many threads of the C peer contend for one lock for a given time.
 *
 * Each section reads a number in Redis, sleeps for the given time, and writes the next number. Two
 * holders at once lose an update, so the number is the count of sections only if the lock excluded.
 *
 * With `places=FILE names=N` the threads contend for N locks, and the numbers are in a file that
 * all peers map, because two requests to Redis take longer than everything else. */
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/redis/outcome.h"
#include "base/redis/url.h"
#include "tests/interop/peer.h"

enum { THREADS_MAX = 64, WAITS_MAX = 1 << 20 };

/* The counters of one lock in the file; Contention.java has the same struct. */
struct place {
    _Atomic int64_t inside; /* the number of holders */
    _Atomic int64_t count;  /* the number of sections */
    int64_t padding[6];
};

struct contention {
    dlock_system *sys;
    bool shared;
    const char *name;
    const char *key;     /* the key of the number */
    const char *server;  /* redis://... */
    struct place *places; /* NULL: the number is in Redis */
    int name_count;      /* the number of places and of locks */
    atomic_int begun_count; /* threads that have begun */
    int64_t end_ns;
    int64_t section_us;  /* how long a section sleeps */
    bool has_faults;     /* connections are cut, so a release may get no answer */
    int threads;
    pthread_t thread[THREADS_MAX];
    pthread_mutex_t mutex;
    int64_t *waits_us; /* the time that each grant took */
    size_t grant_count;
    char wrong[256]; /* the first error; "": none */
};

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void complain(struct contention *c, const char *what, const char *why)
{
    pthread_mutex_lock(&c->mutex);
    if (c->wrong[0] == '\0')
        snprintf(c->wrong, sizeof(c->wrong), "%s: %s", what, why);
    pthread_mutex_unlock(&c->mutex);
}

static redisContext *connect_to(const char *text)
{
    struct redis_url url;
    char why[REDIS_WHY_SIZE];
    redisContext *redis;

    if (!redis_url_parse(text, &url, why, sizeof(why)))
        return NULL;
    redis = redisConnect(url.host, url.port);
    if (redis != NULL && url.password[0] != '\0')
        freeReplyObject(redisCommand(redis, "AUTH %s", url.password));
    if (redis != NULL) /* so that a program that cuts connections can spare this one */
        freeReplyObject(redisCommand(redis, "CLIENT SETNAME number"));
    return redis;
}

static void sleep_us(int64_t us)
{
    const struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    if (us > 0)
        (void)nanosleep(&t, NULL);
}

/* Read the number and write the next. Returns false if the server failed. */
static bool count_up(redisContext *redis, const struct contention *c)
{
    redisReply *got = redisCommand(redis, "GET %s", c->key);
    long long next = got != NULL && got->str != NULL ? strtoll(got->str, NULL, 10) : 0;
    redisReply *set;
    bool done;

    sleep_us(c->section_us);
    set = got != NULL ? redisCommand(redis, "SET %s %lld", c->key, next + 1) : NULL;
    done = set != NULL && set->type == REDIS_REPLY_STATUS;
    freeReplyObject(got);
    freeReplyObject(set);
    return done;
}

/* Read the count in the file and write the next. Returns false if another holder was inside. */
static bool count_up_in_file(struct place *place, int64_t section_us)
{
    bool is_alone = atomic_fetch_add(&place->inside, 1) == 0;
    int64_t count = atomic_load(&place->count);

    sleep_us(section_us);
    atomic_store(&place->count, count + 1);
    atomic_fetch_sub(&place->inside, 1);
    return is_alone;
}

/* `place`: the counters in the file; NULL: the number is in Redis. */
static bool take_turn(struct contention *c, const char *name, redisContext *redis,
                      struct place *place)
{
    dlock_request request = {.wait_ms = -1, .shared = c->shared};
    dlock_lease lease;
    int64_t begun_ns = now_ns();
    dlock_status st = dlock_acquire_with(c->sys, name, &request, &lease);
    int64_t waited_us = (now_ns() - begun_ns) / 1000;

    if (st != DLOCK_OK) {
        complain(c, "acquire", dlock_error());
        return false;
    }
    if (place != NULL && !count_up_in_file(place, c->section_us))
        complain(c, "the place", "two holders were inside");
    if (place == NULL && !count_up(redis, c))
        complain(c, "the number", redis->errstr);
    st = dlock_release(c->sys, &lease);
    if (st == DLOCK_UNKNOWN && c->has_faults)
        st = DLOCK_OK;
    if (st != DLOCK_OK)
        complain(c, "release", dlock_status_id(st));
    pthread_mutex_lock(&c->mutex);
    if (c->grant_count < WAITS_MAX)
        c->waits_us[c->grant_count] = waited_us;
    c->grant_count++;
    pthread_mutex_unlock(&c->mutex);
    return st == DLOCK_OK;
}

static void *contend_in_file(void *arg)
{
    struct contention *c = arg;
    int which = atomic_fetch_add(&c->begun_count, 1) % c->name_count;
    char name[COMMAND_LINE_MAX + 16];

    snprintf(name, sizeof(name), "%s%d", c->name, which);
    while (now_ns() < c->end_ns && take_turn(c, name, NULL, &c->places[which]))
        continue;
    return NULL;
}

static void *contend(void *arg)
{
    struct contention *c = arg;
    redisContext *redis = connect_to(c->server);

    if (redis == NULL || redis->err != 0)
        complain(c, "connect", redis != NULL ? redis->errstr : "no memory");
    else
        while (now_ns() < c->end_ns && take_turn(c, c->name, redis, NULL))
            continue;
    if (redis != NULL)
        redisFree(redis);
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void tell(const struct contention *c, char answer[ANSWER_MAX])
{
    size_t n = c->grant_count < WAITS_MAX ? c->grant_count : WAITS_MAX;

    if (c->wrong[0] != '\0' || n == 0) {
        snprintf(answer, ANSWER_MAX, "error %s", c->wrong[0] != 0 ? c->wrong : "no grant at all");
        return;
    }
    qsort(c->waits_us, n, sizeof(*c->waits_us), ascending);
    snprintf(answer, ANSWER_MAX,
             "ok grants=%zu p50us=%" PRId64 " p99us=%" PRId64 " maxus=%" PRId64,
             c->grant_count, c->waits_us[n / 2], c->waits_us[n * 99 / 100],
             c->waits_us[n - 1]);
}

/* Map the file. Returns false if it cannot be mapped, or has too few places. */
static bool map_places(struct contention *c, const char *path)
{
    size_t bytes = (size_t)c->name_count * sizeof(struct place);
    int fd;
    void *at;

    if (path[0] == '\0')
        return true;
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    at = lseek(fd, 0, SEEK_END) >= (off_t)bytes
             ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
             : MAP_FAILED;
    (void)close(fd);
    c->places = at == MAP_FAILED ? NULL : at;
    return c->places != NULL;
}

static void run_threads(struct contention *c)
{
    int started = 0;

    pthread_mutex_init(&c->mutex, NULL);
    while (started < c->threads &&
           pthread_create(&c->thread[started], NULL,
                          c->places != NULL ? contend_in_file : contend, c) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(c->thread[i], NULL);
    pthread_mutex_destroy(&c->mutex);
}

void peer_contend(dlock_system *sys, bool shared, const char *redis_url,
                const struct command *command, char answer[ANSWER_MAX])
{
    char name[COMMAND_LINE_MAX];
    char key[COMMAND_LINE_MAX];
    char path[COMMAND_LINE_MAX];
    struct contention c = {
        .sys = sys,
        .shared = shared,
        .name = command_text(command, "name", "", name),
        .key = command_text(command, "number", "", key),
        .server = redis_url,
        .end_ns = now_ns() + command_number(command, "ms") * 1000000,
        .section_us = command_number(command, "sectionus"),
        .has_faults = command_number(command, "faults") != 0,
        .threads = (int)command_number(command, "threads"),
        .name_count = (int)command_number(command, "names"),
        .waits_us = calloc(WAITS_MAX, sizeof(int64_t)),
    };

    if (c.waits_us == NULL || c.threads < 1 || c.threads > THREADS_MAX) {
        snprintf(answer, ANSWER_MAX, "error 1 to %d threads", (int)THREADS_MAX);
    } else if (!map_places(&c, command_text(command, "places", "", path))) {
        snprintf(answer, ANSWER_MAX, "error cannot map %s", path);
    } else {
        run_threads(&c);
        tell(&c, answer);
    }
    if (c.places != NULL)
        munmap(c.places, (size_t)c.name_count * sizeof(*c.places));
    free(c.waits_us);
}
