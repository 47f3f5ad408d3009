/* SPDX-License-Identifier: MIT */
/* address_pairs.c -- acquires and releases through several addresses in turn: checks that the locks
 * exclude, and measures the speed of each address beside the first.
 *
 *     address_pairs VARIANT THREADS ROUNDS MS NAMES ADDRESS...
 *
 * In each round, THREADS threads use each address for MS milliseconds.  NAMES is `own`, a name for
 * each thread; or `one`, one name for all threads, with which two holders at once are an error.
 * VARIANT `permit` is no lock but a semaphore of one permit that expires.
 * ADDRESS is the address of one Redis, a list for redlock, or the address of an etcd.  Every second
 * round uses the addresses in reverse order.  A ratio is the speed of an address divided by that of
 * the first address in the same round.  The program prints the median of the rounds, and the
 * interval in which the true median lies with at least 95 %.
 *
 * Exit status: 0, 1 a call failed or two held the lock at once, 64 usage. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lock/dlock.h"
#include "lock/dlock_primitives.h"

enum {
    ADDRESSES_MAX = 8,
    THREADS_MAX = 128,
    ROUNDS_MAX = 99,
    WAIT_MS = 60000,
    TIMEOUT_MS = 20000, /* of a request; a slow answer of a busy machine is no failure */
    NAME_SIZE = 24,
    PERMIT_MS = 60000,
};

struct address {
    const char *url;
    dlock_system *locks;
    dlock_primitives *permits; /* in place of locks */
    double rates[ROUNDS_MAX]; /* acquires and releases per second */
    atomic_int holder_count;
};

struct lap {
    struct address *address;
    int thread; /* below 0: all threads use one name */
    atomic_bool *is_over;
    long pair_count;
    bool has_failed;
};

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool fail(const char *call, dlock_status st)
{
    fprintf(stderr, "address_pairs: %s: %s: %s\n", call, dlock_status_text(st), dlock_error());
    return false;
}

static bool make_pair(struct address *address, const char *name)
{
    dlock_lease lease;
    dlock_permit permit;
    dlock_status st =
        address->permits != NULL
            ? dlock_permits_acquire(address->permits, name, WAIT_MS, PERMIT_MS, &permit)
            : dlock_acquire(address->locks, name, WAIT_MS, &lease);
    bool is_alone;

    if (st != DLOCK_OK)
        return fail("acquire", st);
    is_alone = strcmp(name, "pairs") != 0 || atomic_fetch_add(&address->holder_count, 1) == 0;
    (void)atomic_fetch_sub(&address->holder_count, strcmp(name, "pairs") == 0);
    st = address->permits != NULL ? dlock_permits_release(address->permits, name, &permit)
                                  : dlock_release(address->locks, &lease);
    if (!is_alone)
        fprintf(stderr, "address_pairs: two held the lock at once\n");
    return st == DLOCK_OK ? is_alone : fail("release", st);
}

static void *run_lap(void *arg)
{
    struct lap *lap = arg;
    char name[NAME_SIZE] = "pairs";

    if (lap->thread >= 0)
        (void)snprintf(name, sizeof(name), "pairs:%d", lap->thread);
    if (lap->address->permits != NULL) /* BUSY: another thread has set them */
        lap->has_failed = dlock_is_failure(dlock_permits_set(lap->address->permits, name, 1));
    while (!atomic_load(lap->is_over) && !lap->has_failed) {
        lap->has_failed = !make_pair(lap->address, name);
        lap->pair_count++;
    }
    return NULL;
}

static bool run_round(struct address *address, int thread_count, int ms, bool is_one_name,
                      double *rate)
{
    static struct lap laps[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    atomic_bool is_over = false;
    double begun_s = now_s();
    long pair_count = 0;
    bool is_good = true;

    for (int i = 0; i < thread_count; i++) {
        laps[i] = (struct lap){address, is_one_name ? -1 : i, &is_over, 0, false};
        if (pthread_create(&threads[i], NULL, run_lap, &laps[i]) != 0)
            abort();
    }
    (void)nanosleep(&rest, NULL);
    atomic_store(&is_over, true);
    for (int i = 0; i < thread_count; i++) {
        (void)pthread_join(threads[i], NULL);
        pair_count += laps[i].pair_count;
        is_good = is_good && !laps[i].has_failed;
    }
    *rate = (double)pair_count / (now_s() - begun_s);
    return is_good;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(double *rates, int count)
{
    qsort(rates, (size_t)count, sizeof(*rates), compare);
    return rates[count / 2];
}

/* The number of values at each end of `count` sorted values that are outside the interval of the
 * median: the greatest k for which a coin that is thrown `count` times falls on one side less than
 * k times with a probability of at most 2.5 %. */
static int outside(int count)
{
    double chance = 1, sum;
    int number = 0;

    for (int i = 0; i < count; i++)
        chance /= 2;
    for (sum = chance; sum <= 0.025; sum += chance) {
        chance = chance * (count - number) / (number + 1);
        number++;
    }
    return number;
}

static void print_ratio(const char *variant, int thread_count, int number,
                        const struct address *address, const struct address *first, int rounds)
{
    double rates[ROUNDS_MAX], ratios[ROUNDS_MAX];
    int out = outside(rounds) > 0 ? outside(rounds) - 1 : 0;

    for (int i = 0; i < rounds; i++) {
        rates[i] = address->rates[i];
        ratios[i] = address->rates[i] / first->rates[i];
    }
    printf("%s %d threads, address %d: %.0f pairs/s, ratio %.3f", variant, thread_count, number,
           median(rates, rounds), median(ratios, rounds));
    if (outside(rounds) > 0)
        printf(", between %.3f and %.3f", ratios[out], ratios[rounds - 1 - out]);
    printf("\n");
}

/* Open the address; try again while its server does not answer yet. */
static bool open_address(struct address *address, const char *variant, const char *url)
{
    dlock_options opts = dlock_options_default();
    double end_s = now_s() + (double)WAIT_MS / 1000;
    dlock_status st;

    opts.variant = variant;
    opts.redis_url = opts.redlock_urls = opts.etcd_url = address->url = url;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = TIMEOUT_MS;
    do
        st = strcmp(variant, "permit") == 0
                 ? dlock_primitives_open(&address->permits, url, TIMEOUT_MS)
                 : dlock_open(&address->locks, &opts);
    while (st == DLOCK_IO && now_s() < end_s);
    return st == DLOCK_OK || fail(variant, st);
}

int main(int argc, char **argv)
{
    static struct address addresses[ADDRESSES_MAX];
    int count = argc - 6;
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    int rounds = argc > 3 ? atoi(argv[3]) : 0;
    bool is_good = true;

    if (count < 1 || count > ADDRESSES_MAX || threads < 1 || threads > THREADS_MAX || rounds < 1 ||
        rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: address_pairs VARIANT THREADS ROUNDS MS own|one ADDRESS...\n");
        return 64;
    }
    for (int i = 0; i < count; i++)
        if (!open_address(&addresses[i], argv[1], argv[6 + i]))
            return 1;
    for (int round = 0; round < rounds; round++)
        for (int nth = 0; nth < count; nth++) {
            struct address *address = &addresses[round % 2 == 0 ? nth : count - 1 - nth];

            is_good &= run_round(address, threads, atoi(argv[4]), strcmp(argv[5], "one") == 0,
                                 &address->rates[round]);
        }
    for (int i = 0; i < count; i++)
        print_ratio(argv[1], threads, i + 1, &addresses[i], &addresses[0], rounds);
    for (int i = 0; i < count; i++) {
        dlock_close(addresses[i].locks);
        dlock_primitives_close(addresses[i].permits);
    }
    return is_good ? 0 : 1;
}
