/* SPDX-License-Identifier: MIT */
/* stopped.c -- the sums of one metric over the processes of a run. */
#include "loadtest/sale/stopped.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/http_client.h"

enum { ANSWER_MS = 5000, LAYER_MAX = 64 };

static const char metric[] = "seckill_orders_stopped_total{";

/* A line is seckill_orders_stopped_total{layer="lock",stock_guard="conditional"} 12 */
static void add_line(const char *line, json_t *layers)
{
    const char *name = strstr(line, "layer=\""), *end = strchr(line, '}');
    char layer[LAYER_MAX];
    size_t length;

    if (!name || !end || name > end)
        return;
    name += strlen("layer=\"");
    length = strcspn(name, "\"");
    if (length >= sizeof layer)
        return;
    memcpy(layer, name, length);
    layer[length] = '\0';
    json_object_set_new(layers, layer,
                        json_integer(json_integer_value(json_object_get(layers, layer)) +
                                     strtoll(end + 1, NULL, 10)));
}

/* Add the counts in a text of metrics to `layers`, an object of numbers by layer. */
static void add_counts(const char *metrics, json_t *layers)
{
    for (const char *line = metrics; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, metric, sizeof metric - 1) == 0)
            add_line(line, layers);
    }
}

static int64_t count_of(const json_t *layers, const char *layer)
{
    return json_integer_value(json_object_get(layers, layer));
}

/* The orders that were refused after their process had asked for the lock. */
static int64_t refused_by_lock(const json_t *layers)
{
    static const char *const NAMES[] = {"lock", "stock-guard", "count", "unique", "fence"};
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        sum += count_of(layers, NAMES[i]);
    return sum;
}

/* Add the counts of a process to `layers`, and those that say something of its lock to the
 * process. */
static void take_counts(struct service *service, const char *metrics, json_t *layers)
{
    int64_t refused = refused_by_lock(layers), fenced = count_of(layers, "fence");

    add_counts(metrics, layers);
    service->refused = refused_by_lock(layers) - refused;
    service->fenced = count_of(layers, "fence") - fenced;
}

bool stopped_write(const char *dir, struct service *services, int count)
{
    json_t *layers = json_object(), *json;
    char path[FILES_PATH_MAX], url[SERVICE_URL_MAX + sizeof "/metrics"];
    int asked = 0;
    bool ok;

    for (int i = 0; i < count; i++) {
        char *metrics;

        snprintf(url, sizeof url, "%s/metrics", services[i].admin_url);
        metrics = child_runs(&services[i].child)
                      ? http_client_read(url, services[i].admin_token, ANSWER_MS)
                      : NULL;
        if (metrics)
            take_counts(&services[i], metrics, layers);
        asked += metrics != NULL;
        free(metrics);
    }
    json = json_pack("{s:i, s:i, s:o}", "processes", count, "asked", asked, "layers", layers);
    files_join(path, dir, "stopped.json");
    ok = json && files_write_json(path, json);
    json_decref(json);
    return ok;
}
