/* SPDX-License-Identifier: MIT */
/* admin.c -- the listener for operators: health, metrics, settings. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/handlers.h"
#include "app/lane.h"
#include "app/order_path.h"
#include "app/stream.h"
#include "app/worker_pool.h"

void admin_live(const struct request *rq, struct answer *an)
{
    (void)rq;
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    text_add(an->body, "{\"alive\":true}\n");
}

/* Ask the probes.  A service that is about to stop is not ready, whatever its stores
 * answer. */
static void ask_readiness(struct service *s, struct readiness_report *report)
{
    readiness_ask(s->readiness, report);
    report->is_ready = report->is_ready && !atomic_load(&s->is_leaving);
}

void admin_ready(const struct request *rq, struct answer *an)
{
    bool is_leaving = atomic_load(&rq->service->is_leaving);
    struct readiness_report report;

    ask_readiness(rq->service, &report);
    an->outcome = report.is_ready ? OUTCOME_ACCEPTED : OUTCOME_UNAVAILABLE;
    answer_json(an, report.is_ready ? 200 : 503);
    text_add(an->body, "{\"ready\":%s", report.is_ready ? "true" : "false");
    for (int i = 0; i < READINESS_STORE_COUNT; i++)
        if (report.said[i][0] != '\0') {
            text_add(an->body, ",\"%s\":", READINESS_NAMES[i]);
            text_add_json(an->body, report.said[i]);
        }
    text_add(an->body, "%s}\n", is_leaving ? ",\"stopping\":true" : "");
}

static void add_pool(struct db_pool_stats *sum, const struct db_pool_stats *one)
{
    sum->size += one->size;
    sum->open += one->open;
    sum->in_use += one->in_use;
    sum->waiting += one->waiting;
    sum->taken += one->taken;
    sum->queued += one->queued;
    sum->opened += one->opened;
    sum->failed += one->failed;
    sum->timed_out += one->timed_out;
    sum->refused += one->refused;
}

static void read_databases(struct service *s, struct metrics_facts *facts)
{
    facts->partition_count = partitions_count(s->databases);
    for (size_t i = 0; i < facts->partition_count; i++) {
        partitions_read_stats(s->databases, i, &facts->partitions[i]);
        add_pool(&facts->database, &facts->partitions[i].pool);
    }
}

/* Read what the process uses.  It has no descriptor left if it cannot open /proc. */
static void read_process(struct metrics_facts *facts)
{
    FILE *memory = fopen("/proc/self/statm", "re");
    DIR *descriptors = opendir("/proc/self/fd");
    struct rlimit limit = {0};
    struct rusage used = {0};
    long long pages = 0;

    (void)getrusage(RUSAGE_SELF, &used);
    facts->cpu_us = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000) +
                    used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    facts->max_fds = (int64_t)limit.rlim_cur;
    if (memory != NULL && fscanf(memory, "%*s %lld", &pages) == 1)
        facts->resident_bytes = pages * sysconf(_SC_PAGESIZE);
    while (descriptors != NULL && readdir(descriptors) != NULL)
        facts->open_fds++;
    facts->open_fds = descriptors != NULL ? facts->open_fds - 3 : facts->max_fds; /* . .. itself */
    if (descriptors != NULL)
        (void)closedir(descriptors);
    if (memory != NULL)
        (void)fclose(memory);
}

void admin_metrics(const struct request *rq, struct answer *an)
{
    struct service *s = rq->service;
    struct metrics_facts facts = {
        .lock = s->config->lock,
        .admission = s->config->admission,
        .stock_guard = s->config->stock_guard,
        .process = s->config->process_name,
        .order_path = s->path->name,
        .failed = atomic_load(&s->failed),
        .started_us = s->started_us,
        .orders_waiting = lanes_waiting(s->lanes),
        .orders_waiting_max = s->config->orders_waiting,
        .voucher_orders_waiting_max = s->config->voucher_orders_waiting,
    };
    struct worker_pool_stats pool;

    if (s->stream != NULL)
        facts.stream_length = stream_length(s->stream);
    worker_pool_read_stats(s->workers[LISTENER_ORDERS], &pool);
    facts.workers_busy = pool.in_use;
    facts.workers_total = pool.total;
    facts.workers_waiting = pool.waiting;
    facts.workers_timed_out = pool.timed_out;
    read_databases(s, &facts);
    read_process(&facts);
    ask_readiness(s, &facts.readiness);
    redis_traffic_read(&facts.redis);
    connections_read_stats(s->connections, &facts.connections);
    dlock_metrics_read(s->locks, &facts.locks);
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    an->type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(s->metrics, &facts, an->body);
}

void admin_config(const struct request *rq, struct answer *an)
{
    char *shown = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&shown, &len);

    if (out == NULL)
        return;
    settings_show(rq->service->settings, out);
    if (fclose(out) == 0) {
        an->outcome = OUTCOME_ACCEPTED;
        answer_json(an, 200);
        an->type = "text/plain; charset=utf-8";
        text_add(an->body, "%s", shown);
    }
    free(shown);
}
