/* SPDX-License-Identifier: MIT */
/* metrics_connections.c -- the connections of clients, in Prometheus' text format. */
#include <inttypes.h>

#include "app/metrics.h"

static const char *const LISTENERS[CONNECTION_LISTENERS] = {"orders", "admin"};

static void write_states(const struct connections_stats *stats, struct text *out)
{
    static const char *const NAMES[] = {
#define X(id, name, may_end) name,
        CONNECTION_STATES(X)
#undef X
    };

    metrics_head(out, "seckill_http_connections", "gauge",
                 "Open client connections, by what they are doing.");
    for (int l = 0; l < CONNECTION_LISTENERS; l++)
        for (int s = CONNECTION_FREE + 1; s < CONNECTION_ENDED; s++)
            text_add(out,
                     "seckill_http_connections{listener=\"%s\",state=\"%s\"} %" PRId64
                     "\n",
                     LISTENERS[l], NAMES[s - 1], stats->states[l][s]);
}

static void write_ends(const struct connections_stats *stats, struct text *out)
{
    static const char *const REASONS[] = {
#define X(id, name) name,
        CONNECTION_ENDS(X)
#undef X
    };

    metrics_head(out, "seckill_http_connections_ended_total", "counter",
                 "Client connections that came to their end, by the reason.");
    for (int l = 0; l < CONNECTION_LISTENERS; l++)
        for (int r = 0; r < CONNECTION_END_COUNT; r++)
            text_add(out,
                     "seckill_http_connections_ended_total{listener=\"%s\",reason=\"%s\"} "
                     "%" PRIu64 "\n",
                     LISTENERS[l], REASONS[r], stats->ends[l][r]);
}

void metrics_write_connections(struct connections *connections, struct text *out)
{
    struct connections_stats stats;

    connections_read_stats(connections, &stats);
    write_states(&stats, out);
    write_ends(&stats, out);
}
