/* SPDX-License-Identifier: MIT */
/* service_open.c -- opens and closes the parts of the service. */
#include "app/service.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "app/lane.h"
#include "app/order_path.h"
#include "app/stream.h"
#include "app/stream_writer.h"
#include "base/os/clock.h"
#include "db/guard.h"
#include "lock/fault.h"

static bool open_database(struct service *s)
{
    s->readiness = readiness_start(s->config, &s->failed, s->admission, s->stream);
    s->vouchers = aligned_alloc(alignof(struct voucher_cache), sizeof(*s->vouchers));
    if (s->readiness == NULL || s->vouchers == NULL) {
        log_error("out of memory");
        return false;
    }
    memset(s->vouchers, 0, sizeof(*s->vouchers));
    return voucher_cache_init(s->vouchers);
}

static bool start_writer(struct service *s)
{
    if (!stream_is_kept(s->stream))
        log_warn("--order-path=stream: this Redis has no append-only file, and loses every "
                 "order that is queued when it ends");
    s->stream_writer = stream_writer_start(s);
    if (s->stream_writer == NULL)
        log_error("cannot start the writer of the stream");
    return s->stream_writer != NULL;
}

enum exit_code service_open(struct service *s, const struct config *config,
                            const struct settings *settings)
{
    enum exit_code rc = EXIT_VALID;

    s->config = config;
    s->settings = settings;
    s->started_us = dlock_clock_wall_ms() * 1000;
    s->path = order_path_find(config->order_path);
    s->terms = (struct sale_terms){
        .stock_guard = guard_find(config->stock_guard),
        .duplicate_guard = config->duplicates,
        .lock_variant = config->lock,
        .process = config->process_name,
    };
    s->metrics = metrics_new();
    s->lanes = lanes_new(config->orders_waiting, config->voucher_orders_waiting,
                         config->voucher_leaders);
    if (s->metrics == NULL || s->lanes == NULL) {
        log_error("out of memory");
        return EXIT_UNAVAILABLE;
    }
    if (config->allow_faults)
        dlock_fault_allow();
    rc = stores_open(s);
    if (rc == EXIT_VALID && !open_database(s))
        rc = EXIT_UNAVAILABLE;
    if (rc == EXIT_VALID && s->stream != NULL && !start_writer(s))
        rc = EXIT_UNAVAILABLE;
    return rc;
}

void service_close(struct service *s)
{
    stream_writer_stop(s->stream_writer, 0);
    readiness_stop(s->readiness);
    stream_close(s->stream);
    admission_close(s->admission);
    dlock_close(s->locks);
    partitions_close(s->databases);
    free(s->vouchers);
    lanes_free(s->lanes);
    metrics_free(s->metrics);
    s->stream_writer = NULL;
    s->stream = NULL;
    s->databases = NULL;
    s->readiness = NULL;
    s->vouchers = NULL;
    s->admission = NULL;
    s->locks = NULL;
    s->metrics = NULL;
    s->lanes = NULL;
}
