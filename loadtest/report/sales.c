/* SPDX-License-Identifier: MIT */
/* sales.c -- one sale under load, gathered from the files of its directory. */
#include "loadtest/report/sales.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

enum {
    STEPS_MAX = 120,
    CREATED_FIELD = 10, /* of orders.tsv: when the row's transaction began, in us       */
    BEFORE_MAX_MS = 1000, /* a row that is older than the load by more is of another clock */
};

/* The files are data: no instant behind the year 2100 is one, and the sums below hold. */
static const int64_t instant_max_us = INT64_C(4102444800000000);

/* The instants in the last field of each line, as far as they are numbers. */
static size_t read_instants(char *text, int64_t **out)
{
    size_t count = 0, room = 0;
    char *line;

    *out = NULL;
    while ((line = strsep(&text, "\n")) != NULL) {
        char *field = line;
        int64_t us;

        for (int i = 0; i < CREATED_FIELD && field; i++) {
            field = strchr(field, '\t');
            field += field != NULL;
        }
        us = *line != '#' && field ? strtoll(field, NULL, 10) : 0;
        if (us <= 0 || us > instant_max_us)
            continue;
        if (count == room) {
            room = room ? 2 * room : 1024;
            *out = memory_need(realloc(*out, room * sizeof **out));
        }
        (*out)[count++] = us;
    }
    return count;
}

/* 1, 2, 5, 10, ... ms, so that `span_ms` has at most STEPS_MAX steps. */
static int64_t choose_step_ms(int64_t span_ms)
{
    static const int64_t factors[] = {1, 2, 5};

    for (int64_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if (span_ms / (ten * factors[i]) < STEPS_MAX)
                return ten * factors[i];
}

/* The orders over time from orders.tsv: the number of rows that were made in each step from
 * `began_us` on; 0: from the first row on.  NULL: there are none.  The caller owns the object. */
static json_t *orders_over_time(const char *dir, int64_t began_us)
{
    char path[FILES_PATH_MAX];
    int64_t *at = NULL, first = INT64_MAX, last = 0, step_us, steps[STEPS_MAX] = {0};
    char *text;
    size_t count;
    json_t *list = NULL, *json = NULL;

    files_join(path, dir, "orders.tsv");
    text = files_read(path, NULL);
    count = text ? read_instants(text, &at) : 0;
    for (size_t i = 0; i < count; i++) {
        first = at[i] < first ? at[i] : first;
        last = at[i] > last ? at[i] : last;
    }
    if (count > 0 && (began_us <= 0 || began_us > first + BEFORE_MAX_MS * 1000 ||
                      first - began_us > 86400 * INT64_C(1000000)))
        began_us = first;
    if (count > 0) {
        step_us = choose_step_ms((last - began_us) / 1000) * 1000;
        for (size_t i = 0; i < count; i++)
            steps[at[i] > began_us ? (at[i] - began_us) / step_us : 0]++;
        list = json_array();
        for (int64_t i = 0; i <= (last > began_us ? (last - began_us) / step_us : 0); i++)
            json_array_append_new(list, json_integer(steps[i]));
        json = json_pack("{s:I, s:I, s:o}", "from_us", (json_int_t)began_us, "step_ms",
                         (json_int_t)(step_us / 1000), "orders", list);
    }
    free(at);
    free(text);
    return json;
}

bool sale_has_evidence(const json_t *verdict)
{
    return json_is_integer(json_object_get(verdict, "issued")) &&
           json_is_integer(json_object_get(verdict, "orders")) &&
           json_is_object(json_object_get(verdict, "checks"));
}

void sale_drop_valid(json_t *checks)
{
    json_t *check;
    const char *name;
    void *next;

    json_object_foreach_safe(checks, next, name, check)
    {
        if (json_is_true(json_object_get(check, "valid")))
            json_object_del(checks, name);
    }
}

json_t *sale_gather(const char *dir, const char *name, struct run_data *data)
{
    static const char *const files[][2] = {{"run.json", "run"},
                                           {"verdict.json", "verdict"},
                                           {"load.json", "load"},
                                           {"stopped.json", "stopped"},
                                           {"service.json", "service"},
                                           {"objectives.json", "objectives"}};
    char path[FILES_PATH_MAX];
    json_t *sale = json_object(), *orders;

    files_join(path, dir, name);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        json_t *json = run_data_file(path, files[i][0], data);

        if (json)
            json_object_set_new(sale, files[i][1], json);
    }
    sale_drop_valid(json_object_get(json_object_get(sale, "verdict"), "checks"));
    orders = orders_over_time(
        path, json_whole(json_object_get(json_object_get(sale, "run"), "times"), "began_us"));
    if (orders)
        json_object_set_new(sale, "orders", orders);
    return sale;
}
