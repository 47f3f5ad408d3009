/* SPDX-License-Identifier: MIT */
/* data.c -- reading the data of a run, also of one that is damaged or of another format. */
#include "loadtest/report/data.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_data.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/lab/lab.h"

/* ---- one sale under load, gathered from the files of its directory ---- */

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

/* Remove the checks of a verdict that found nothing, which are most of a large comparison's
 * text.  NULL is fine. */
static void sale_drop_valid(json_t *checks)
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

/* The sale in `name` below `dir` ("." is `dir`): {"run", "verdict", "load", "stopped",
 * "service", "objectives", "orders"}.  "orders" is {"from_us", "step_ms", "orders": [...]}, the
 * number of rows that were made in each step.  A file that is missing or damaged is left out, so
 * the object may be empty.  Of the audit's checks only those that found something are kept, with
 * their examples.  The caller owns the object. */
static json_t *sale_gather(const char *dir, const char *name, struct run_data *data)
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

/* ---- a file of a run, also where it is missing or damaged ---- */

void run_data_add_problem(struct run_data *data, enum data_problem_kind kind,
                          const char *fmt, ...)
{
    va_list args;

    if (!data || data->problem_count == DATA_PROBLEMS_MAX)
        return;
    data->problems[data->problem_count].kind = kind;
    va_start(args, fmt);
    (void)vsnprintf(data->problems[data->problem_count++].text, DATA_TEXT_MAX, fmt, args);
    va_end(args);
}

const char *json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

double json_double(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

int64_t json_whole(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_number_value(value);

    if (json_is_integer(value))
        return json_integer_value(value);
    return number > -9e15 && number < 9e15 ? (int64_t)number : 0;
}

json_t *run_data_file(const char *dir, const char *name, struct run_data *data)
{
    char path[FILES_PATH_MAX];
    json_error_t error;
    json_t *json;
    size_t size = 0;
    char *text;

    files_join(path, dir, name);
    text = files_read(path, &size);
    if (!text) {
        if (errno != ENOENT)
            run_data_add_problem(data, DATA_DAMAGED, "%s: %s", name, files_reason());
        return NULL;
    }
    json = json_loadb(text, size, 0, &error);
    if (!json)
        run_data_add_problem(data, DATA_DAMAGED, "%s, line %d: %s", name, error.line,
                             error.text);
    free(text);
    return json;
}

/* ---- the results in the files of a run ---- */

/* The results are one object: "summary" of compare, "measured" of a measurement, "stories" of
 * scenarios, "matrix", "bench", "bench_locks", "rate" of load --rate, and "runs": for each sale
 * its directory below the run's ("." is the run itself) with what it left.  "service" has the
 * settings of the first seckilld of a bench, of scenarios or of a matrix, and "service_of" the
 * directory of its performance. */

/* The file of a command, and where it goes. */
static const struct source {
    const char *file, *key, *kind;
} sources[] = {
    {"matrix.json", "matrix", "matrix"},
    {"bench.json", "bench", "bench"},
    {"bench-locks.json", "bench_locks", "bench-locks"},
    {"stories.json", "stories", "scenario"},
    {"summary.json", "summary", "compare"},
    {"rate.json", "rate", "load"},
};

/* Keep, of a sale that is one of many, only the data that the page shows.  The settings of the
 * service are kept of the first sale only, since the others differ only in the names of their
 * cell. */
static json_t *slim(json_t *sale, bool is_first)
{
    json_t *load = json_object_get(sale, "load");

    if (!is_first)
        json_object_del(sale, "service");
    json_object_del(load, "latency_all");
    json_object_del(load, "latency_others");
    json_object_del(json_object_get(sale, "verdict"), "source");
    return sale;
}

/* The sales of a comparison.  Of the runs of a cell only the first has its sale drawn, since a
 * page has no room for more. */
static void add_compared(json_t *summary, json_t *runs, const char *dir, struct run_data *data)
{
    json_t *cell, *run;
    size_t i, j;

    json_array_foreach(json_object_get(summary, "cells"), i, cell)
    {
        json_array_foreach(json_object_get(cell, "runs"), j, run)
        {
            const char *name = json_text(run, "dir");

            sale_drop_valid(json_object_get(run, "checks"));
            /* The file is data: its names must not lead out of the run. */
            if (j == 0 && *name && *name != '/' && !strstr(name, ".."))
                json_object_set_new(runs, name, slim(sale_gather(dir, name, data),
                                                     json_object_size(runs) == 0));
        }
    }
}

static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool add_settings(json_t *results, const char *dir, const char *name, struct run_data *data)
{
    char file[FILES_PATH_MAX];
    json_t *service;

    files_join(file, name, "service.json");
    service = run_data_file(dir, file, data);
    if (json_array_size(service) == 0) {
        json_decref(service);
        return false;
    }
    json_object_set_new(results, "service", service);
    json_object_set_new(results, "service_of", json_string(name));
    return true;
}

/* Add the settings of the service: of the run itself, or of the first performance that has them. */
static void add_service(json_t *results, const char *dir, struct run_data *data)
{
    struct dirent **entries = NULL;
    int count = 0;

    if (!add_settings(results, dir, ".", data))
        count = scandir(dir, &entries, is_name, alphasort);
    for (int i = 0; i < count; i++) {
        char path[FILES_PATH_MAX];

        files_join(path, dir, entries[i]->d_name);
        if (json_object_get(results, "service") == NULL && files_is_directory(path))
            add_settings(results, dir, entries[i]->d_name, data);
        free(entries[i]);
    }
    free(entries);
}

static bool has_content(const json_t *json)
{
    return json_object_size(json) > 0 || json_array_size(json) > 0;
}

/* Has "results" the data of a run, of any command? */
static bool run_data_has_results(const json_t *results)
{
    bool has = has_content(json_object_get(results, "runs")) ||
               has_content(json_object_get(results, "measured"));

    for (size_t i = 0; !has && i < sizeof sources / sizeof sources[0]; i++)
        has = has_content(json_object_get(results, sources[i].key));
    return has;
}

/* "results" of the run in `dir`, from the files that the command left there; an empty object if
 * there are none.  Damaged files are added to the problems of `data`, which may be NULL.
 * *kind is the command's name, static; "" if the files do not tell.  The caller owns it. */
static json_t *run_data_gather(const char *dir, const char **kind, struct run_data *data)
{
    json_t *results = json_object(), *runs = json_object(), *sale;

    *kind = "";
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        json_t *json = run_data_file(dir, sources[i].file, data);

        if (!json)
            continue;
        *kind = sources[i].kind;
        /* A measurement's summary.json is another one. */
        if (i == 4 && json_object_get(json, "rows")) {
            json_object_set_new(results, "measured", json);
            *kind = "scenario";
            continue;
        }
        if (i == 4)
            add_compared(json, runs, dir, data);
        json_object_set_new(results, sources[i].key, json);
    }
    if (strcmp(*kind, "bench") == 0 || strcmp(*kind, "scenario") == 0 ||
        strcmp(*kind, "matrix") == 0)
        add_service(results, dir, data);
    sale = **kind == '\0' || strcmp(*kind, "load") == 0 ? sale_gather(dir, ".", data) : NULL;
    if (json_object_size(sale) > 0) {
        json_object_set(runs, ".", sale);
        *kind = "load";
    }
    json_decref(sale);
    if (json_object_size(runs) > 0)
        json_object_set(results, "runs", runs);
    json_decref(runs);
    return results;
}

/* ---- the versions of the programs that the run was made with ---- */

enum { LINE_MAX_HERE = 160 };

static void ask(json_t *versions, const char *name, const char *program, const char *flag)
{
    char command[FILES_PATH_MAX], line[LINE_MAX_HERE] = "";
    FILE *out;

    if (strchr(program, '\'') != NULL) /* it would end the quotes below */
        return;
    files_path(command, "'%s' %s 2>&1", program, flag);
    out = popen(command, "re");
    if (out == NULL)
        return;
    if (fgets(line, sizeof line, out) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        json_object_set_new(versions, name, json_string(line));
    }
    (void)pclose(out);
}

/* {"PostgreSQL": "postgres (PostgreSQL) 15.20 ...", "Redis": ..., "wrk": ...}: the first line
 * that each prints when it is asked; what is not installed is left out.  The caller owns it. */
static json_t *lab_versions(void)
{
    json_t *versions = json_object();
    char program[FILES_PATH_MAX];

    if (lab_postgres_program(program, "postgres"))
        ask(versions, "PostgreSQL", program, "--version");
    if (files_find_program(program, "redis-server"))
        ask(versions, "Redis", program, "--version");
    if (files_find_program(program, "wrk"))
        ask(versions, "wrk", program, "-v");
    return versions;
}

/* Look at a data.json that could be read.  NULL: it is of no use, and the problems say why. */
static json_t *accept(json_t *json, struct run_data *data)
{
    int64_t format = json_whole(json, "format");

    if (json && (!json_is_object(json) || !json_is_object(json_object_get(json, "results")))) {
        run_data_add_problem(data, DATA_DAMAGED, "%s has no results", RUN_DATA_FILE);
        json_decref(json);
        return NULL;
    }
    if (json && format != RUN_DATA_FORMAT)
        run_data_add_problem(data, DATA_OTHER, "%s says format %lld, and this program knows %d",
                             RUN_DATA_FILE, (long long)format, RUN_DATA_FORMAT);
    return json;
}

/* Read the results from the other files of a run whose data.json is missing or damaged. */
static json_t *from_files(const char *dir, struct run_data *data)
{
    const char *kind = "";
    json_t *results = run_data_gather(dir, &kind, data);
    bool is_damaged = data->problem_count > 0;

    if (*kind == '\0')
        run_data_add_problem(data, DATA_NONE_THERE,
                             "no data.json, summary.json, matrix.json, bench.json, "
                             "bench-locks.json, stories.json or verdict.json");
    else if (!is_damaged)
        run_data_add_problem(data, DATA_MISSING, "%s", RUN_DATA_FILE);
    return memory_need(json_pack("{s:i, s:s, s:o}", "format", 0, "kind", kind, "results",
                                 results));
}

/* Add the parts that the data of every run has, and this data has not, to the problems. */
static void note_missing(struct run_data *data)
{
    json_t *results = json_object_get(data->json, "results");
    json_t *runs = json_object_get(results, "runs"), *sale;
    const char *name;

    if (data->problem_count == 0 && !run_data_has_results(results))
        run_data_add_problem(data, DATA_MISSING, "the results in %s", RUN_DATA_FILE);
    json_object_foreach(runs, name, sale)
    {
        const json_t *verdict = json_object_get(sale, "verdict");

        if (verdict && !sale_has_evidence(verdict))
            run_data_add_problem(data, DATA_MISSING,
                                 "issued, orders or checks in the verdict of %s",
                                 strcmp(name, ".") == 0 ? "the run" : name);
    }
}

static enum exit_code status_of(struct run_data *data)
{
    note_missing(data);
    return data->problem_count > 0 ? EXIT_UNKNOWN : EXIT_VALID;
}

enum exit_code run_data_read(struct run_data *out, const char *path)
{
    *out = (struct run_data){0};
    if (access(path, R_OK) != 0) { /* ENAMETOOLONG, too, because FILES_PATH_MAX is PATH_MAX */
        runs_say_unreadable("seckill report", path);
        return EXIT_USAGE;
    }
    files_path(out->dir, "%s", path);
    if (!files_is_directory(path)) {
        const char *parent = dirname(out->dir); /* in out->dir, which it cuts, or static */

        memmove(out->dir, parent, strlen(parent) + 1);
    }
    out->json = accept(run_data_file(out->dir, RUN_DATA_FILE, out), out);
    if (!out->json)
        out->json = from_files(out->dir, out);
    return status_of(out);
}

bool run_data_is_none(const struct run_data *data)
{
    for (size_t i = 0; i < data->problem_count; i++)
        if (data->problems[i].kind == DATA_NONE_THERE)
            return true;
    return false;
}

enum exit_code run_data_parse(struct run_data *out, const char *text, size_t size)
{
    json_error_t error;

    *out = (struct run_data){0};
    out->json = json_loadb(text, size, 0, &error);
    if (!out->json)
        run_data_add_problem(out, DATA_DAMAGED, "%s, line %d: %s", RUN_DATA_FILE, error.line,
                             error.text);
    out->json = accept(out->json, out);
    if (!out->json)
        out->json = memory_need(
            json_pack("{s:i, s:s, s:{}}", "format", 0, "kind", "", "results"));
    return status_of(out);
}

void run_data_free(struct run_data *data)
{
    json_decref(data->json);
    data->json = NULL;
}

bool run_data_write(const char *dir, const char *kind, enum exit_code status)
{
    char path[FILES_PATH_MAX];
    const char *ignored;
    json_t *json = run_data_head(kind, status);
    char *text;
    bool ok;

    json_object_set_new(json, "versions", lab_versions());
    json_object_set_new(json, "results", run_data_gather(dir, &ignored, NULL));
    files_join(path, dir, RUN_DATA_FILE);
    text = files_json_text(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    ok = files_write(path, text);
    if (!ok)
        eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    free(text);
    json_decref(json);
    return ok;
}
