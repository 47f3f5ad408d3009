/* SPDX-License-Identifier: MIT */
/* rated.c -- orders at a fixed rate, in place of wrk. */
#include "loadtest/show/rated.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"
#include "loadtest/open_loop/buyers.h"
#include "loadtest/sale/service.h"
#include "loadtest/sale/users.h"

enum { LATENCY_MS = 100, DRAIN_MS = 1000 };

struct show_rated {
    struct token_keys keys;
    int ports[SERVICE_MAX];
    int64_t voucher;
    char dir[FILES_PATH_MAX], control_path[FILES_PATH_MAX];
    struct buyers_plan buying;
    struct buyers *buyers;
    struct generator_client buyer, client; /* the client counts, and asks the buyer         */
    struct generator_plan sending;
    struct generator *generator;
    struct control control;
    struct step_result step; /* the thread's                                             */
    int64_t rate, duration_ms, latency_ns;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_ending, has_ended;
};

static size_t write_request(void *arg, int64_t n, int target, char *out, size_t size)
{
    struct show_rated *rated = arg;

    control_count(&rated->control, target + 1, CONTROL_SENT);
    return rated->buyer.write_request(rated->buyer.arg, n, target, out, size);
}

static enum answer_kind take_answer(void *arg, int64_t n, int target,
                                    const struct received_answer *answer)
{
    struct show_rated *rated = arg;
    enum answer_kind kind = rated->buyer.take_answer(rated->buyer.arg, n, target, answer);

    control_count(&rated->control, target + 1, CONTROL_ANSWERED);
    control_count(&rated->control, target + 1,
                  answer_is_accepted(kind)  ? CONTROL_ACCEPTED
                  : kind == ANSWER_SOLD_OUT ? CONTROL_SOLD_OUT
                                            : CONTROL_OTHER);
    if (kind == ANSWER_STALE)
        control_count(&rated->control, target + 1, CONTROL_STALE);
    return kind;
}

/* The answer will never come, so that nobody waits for it any more. */
static void take_silence(void *arg, int64_t n, int target)
{
    struct show_rated *rated = arg;

    control_count(&rated->control, target + 1, CONTROL_ANSWERED);
    control_count(&rated->control, target + 1, CONTROL_OTHER);
    rated->buyer.take_silence(rated->buyer.arg, n, target);
}

static bool tick(void *arg, int64_t since_begin_ns)
{
    struct show_rated *rated = arg;
    int64_t buckets[CONTROL_BUCKETS] = {0};

    if (since_begin_ns - rated->latency_ns >= LATENCY_MS * INT64_C(1000000)) {
        latency_add_to(&rated->step.accepted, buckets);
        control_set_latency(&rated->control, 1, buckets);
        rated->latency_ns = since_begin_ns;
    }
    return rated->buyer.tick(rated->buyer.arg, since_begin_ns) && !atomic_load(&rated->is_ending);
}

static void *run(void *arg)
{
    struct show_rated *rated = arg;

    (void)generator_run(rated->generator, rated->rate, rated->duration_ms, DRAIN_MS, &rated->step);
    atomic_store(&rated->has_ended, true);
    return NULL;
}

/* Signals are for the thread that runs the sale. */
static bool start_thread(struct show_rated *rated)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rated->has_thread = pthread_create(&rated->thread, NULL, run, rated) == 0;
    if (rated->has_thread)
        pthread_setname_np(rated->thread, "orders"); /* tests/proof leaves this thread out */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rated->has_thread;
}

static void fill(struct show_rated *rated, const struct show_rated_plan *plan)
{
    rated->voucher = plan->voucher;
    rated->rate = plan->rate;
    rated->duration_ms = plan->duration_ms;
    memcpy(rated->ports, plan->ports, (size_t)plan->processes * sizeof *plan->ports);
    files_path(rated->dir, "%s", plan->dir);
    files_join(rated->control_path, plan->dir, "control");
    rated->buying = (struct buyers_plan){.dir = rated->dir,
                                         .keys = &rated->keys,
                                         .face = "v1",
                                         .ports = rated->ports,
                                         .vouchers = &rated->voucher,
                                         .voucher_count = 1,
                                         .same_users = plan->same_users};
    rated->client = (struct generator_client){rated, write_request, take_answer, take_silence,
                                              tick};
    rated->sending = (struct generator_plan){
        .ports = rated->ports,
        .targets = plan->processes,
        .connections = plan->connections < plan->processes ? plan->processes : plan->connections,
        .client = &rated->client};
}

struct show_rated *show_rated_start(const struct show_rated_plan *plan)
{
    struct show_rated *rated = memory_need(calloc(1, sizeof *rated));
    char key[FILES_PATH_MAX];

    fill(rated, plan);
    files_join(key, plan->lab->dir, "token.key");
    if (!users_load_keys(key, &rated->keys)) {
        why_say(plan->why, "the key of the tokens, %s, cannot be read", key);
    } else if (!control_open(&rated->control, rated->control_path) ||
               !(rated->buyers = buyers_open(&rated->buying))) {
        why_say(plan->why, "cannot write to %s: %s", plan->dir, strerror(errno));
    } else {
        rated->buyer = buyers_client(rated->buyers);
        rated->generator = generator_open(&rated->sending);
        if (rated->generator && start_thread(rated))
            return rated;
        why_say(plan->why, "cannot send orders to the service: %s", strerror(errno));
    }
    show_rated_end(rated);
    return NULL;
}

struct control show_rated_control(const struct show_rated *rated)
{
    return rated->control;
}

bool show_rated_runs(const struct show_rated *rated)
{
    return !atomic_load(&rated->has_ended);
}

void show_rated_end(struct show_rated *rated)
{
    if (!rated)
        return;
    atomic_store(&rated->is_ending, true);
    if (rated->has_thread)
        pthread_join(rated->thread, NULL);
    generator_close(rated->generator);
    if (!buyers_close(rated->buyers))
        eprintf("seckill show: the ledger in %s is not whole: %s\n", rated->dir, strerror(errno));
    control_close(&rated->control);
    free(rated);
}
