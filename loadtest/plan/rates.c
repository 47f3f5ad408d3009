/* SPDX-License-Identifier: MIT */
/* rates.c -- reads what `seckill bench` measured. */
#include "loadtest/plan/rates.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/kit/files.h"

#define SERVICE_LOCK "reentrant" /* the lock that the service has unless it is told otherwise */
#define RATE_MAX 1e9
#define COUNT_MAX 1000000000

static bool is_text(const json_t *object, const char *name, const char *value)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text && strcmp(text, value) == 0;
}

/* The row of `combined` under a lock with so many clients, or with the most if `clients` is 0.
 * NULL: none. */
static const json_t *row_of(const json_t *list, const char *lock, json_int_t clients)
{
    const json_t *found = NULL, *row;
    json_int_t most = 0;
    size_t i;

    json_array_foreach((json_t *)list, i, row)
    {
        json_int_t n = json_integer_value(json_object_get(row, "clients"));

        if (!is_text(row, "order_path", "combined") || !is_text(row, "lock", lock) ||
            (clients != 0 ? n != clients : n <= most))
            continue;
        most = n;
        found = row;
    }
    return found;
}

/* The median of a claim; 0: it was not measured. */
static double claim_of(const json_t *list, const char *name)
{
    const json_t *row;
    size_t i;

    json_array_foreach((json_t *)list, i, row)
    {
        if (is_text(row, "claim", name))
            return json_number_value(
                json_object_get(json_object_get(row, "value"), "median"));
    }
    return 0;
}

static double per_s(const json_t *row)
{
    return json_number_value(json_object_get(row, "http_per_s"));
}

/* When and of what, from the file beside it. */
static void tell_measured(const char *dir, const char *file, struct rates_read *out)
{
    char path[FILES_PATH_MAX];
    json_t *data = NULL;
    const char *started, *commit;

    files_join(path, dir, "data.json");
    if (access(path, R_OK) == 0)
        data = files_read_json(path);
    started = json_string_value(json_object_get(data, "started"));
    commit = json_string_value(json_object_get(data, "commit"));
    snprintf(out->measured, sizeof out->measured, "%.200s%s%.40s%s%.40s", file,
             started ? ", measured " : "", started ? started : "",
             commit && *commit ? ", commit " : "", commit ? commit : "");
    json_decref(data);
}

/* A rate that no machine has is a damaged file: later it would be a number of servers. */
static bool is_rate(double rate)
{
    return rate >= 1 && rate <= RATE_MAX;
}

/* Say on stderr which figure the bench does not have.  Answers false. */
static bool tell_missing(const char *file, const char *what)
{
    fprintf(stderr,
            "seckill plan: %s has not %s, from 1 to %.0f per second: it is damaged, of an older "
            "version, or of a run that was ended early\n  measure anew: seckill bench; then "
            "--bench=runs/latest\n",
            file, what, RATE_MAX);
    return false;
}

/* The rate of refusals follows from two ratios to the empty handler.  False: stderr says which
 * figure is missing. */
static bool fill(const char *file, const json_t *list, struct rates_read *out)
{
    const json_t *row = row_of(list, SERVICE_LOCK, 0);
    const json_t *alone = row_of(list, "none", 64);
    double orders_to_empty = claim_of(list, "orders-to-empty");
    double refused_to_empty = claim_of(list, "sold-out-to-empty");
    json_int_t clients = json_integer_value(json_object_get(row, "clients"));

    double refused = per_s(alone) / orders_to_empty * refused_to_empty;

    if (!is_rate(per_s(row)))
        return tell_missing(file, "the orders of path `combined` with the lock " SERVICE_LOCK);
    if (!is_rate(per_s(alone)))
        return tell_missing(file, "the orders of path `combined` with the lock none, 64 clients");
    if (!(orders_to_empty > 0 && refused_to_empty > 0) || !is_rate(refused))
        return tell_missing(file, "the ratios `orders-to-empty` and `sold-out-to-empty`, which "
                                  "tell the rate of refusals");
    out->rates = (struct plan_rates){
        .orders = per_s(row),
        .refused = refused,
        .locks = per_s(row),
    };
    snprintf(out->orders_origin, sizeof out->orders_origin,
             "accepted orders of one voucher over HTTP, combined, lock %s, %d clients",
             SERVICE_LOCK, (int)clients);
    snprintf(out->refused_origin, sizeof out->refused_origin,
             "answers \"sold out\": %.0f / %.2f * %.2f, since the bench has both as ratios to an "
             "empty handler",
             per_s(alone), orders_to_empty, refused_to_empty);
    snprintf(out->locks_origin, sizeof out->locks_origin,
             "one lock for each of those orders, so Redis takes at least so many; "
             "--locks-per-s=N says what bench-locks measured");
    return true;
}

bool rates_read(const char *path, struct rates_read *out)
{
    char file[FILES_PATH_MAX], dir[FILES_PATH_MAX];
    struct stat st;
    json_t *list;
    bool ok;

    files_path(file, "%s", path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        files_join(file, path, "bench.json");
    list = files_read_json(file);
    if (!list) {
        fprintf(stderr, "  measure it: seckill bench; then --bench=runs/latest\n");
        return false;
    }
    files_path(dir, "%s", file);
    if (strrchr(dir, '/'))
        *strrchr(dir, '/') = '\0';
    else
        files_path(dir, ".");
    ok = fill(file, list, out);
    if (ok)
        tell_measured(dir, file, out);
    json_decref(list);
    return ok;
}

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static struct plan_point point_of(const json_t *row)
{
    return (struct plan_point){.partitions = (int64_t)number(row, "partitions"),
                               .replicas = (int64_t)number(row, "replicas"),
                               .vouchers = (int64_t)number(row, "vouchers"),
                               .connections = (int64_t)number(row, "connections"),
                               .orders = number(row, "orders_per_s"),
                               .cpu_us = number(row, "cpu_us"),
                               .own_cores = number(row, "own_cores"),
                               .idle_cores = number(row, "idle_cores"),
                               .others_cores = number(row, "others_cores")};
}

static bool is_count(int64_t count)
{
    return count >= 1 && count <= COUNT_MAX;
}

static bool is_point(const struct plan_point *p)
{
    return is_count(p->partitions) && is_count(p->replicas) && is_count(p->vouchers) &&
           is_count(p->connections) && is_rate(p->orders) && p->cpu_us > 0 && p->own_cores > 0 &&
           p->idle_cores >= 0;
}

bool points_read(const char *path, struct plan_point *points, int max, int *count)
{
    json_t *list = files_read_json(path);
    const json_t *row;
    bool ok = list != NULL && json_array_size(list) <= (size_t)max;
    size_t i;

    *count = 0;
    json_array_foreach(list, i, row)
    {
        if (!ok)
            break;
        points[*count] = point_of(row);
        ok = is_point(&points[(*count)++]);
    }
    ok = ok && *count > PLAN_POINTS_LEARNED && plan_can_learn(points);
    if (list && !ok)
        fprintf(
            stderr,
            "seckill plan: %s must be a list of %d to %d points, each with partitions, replicas, "
            "vouchers, connections, orders_per_s, cpu_us, own_cores, idle_cores and "
            "others_cores; the first two are of one partition and one replica and differ in "
            "their vouchers, the third has more replicas, the fourth more partitions\n"
            "  measure them: make prove-plan\n",
            path, PLAN_POINTS_LEARNED + 1, max);
    json_decref(list);
    return ok;
}
