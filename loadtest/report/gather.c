/* SPDX-License-Identifier: MIT */
/* gather.c -- the results of a run from the files that its command left.
 *
 * The results are one object: "summary" of compare, "measured" of a measurement, "stories" of
 * scenarios, "matrix", "bench", "bench_locks", "rate" of load --rate, and "runs": for each sale
 * its directory below the run's ("." is the run itself) with what it left.  "service" has the
 * settings of the first seckilld of a bench, of scenarios or of a matrix, and "service_of" the
 * directory of its performance.
 */
#include "loadtest/report/gather.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/report/sales.h"

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

bool run_data_has_results(const json_t *results)
{
    bool has = has_content(json_object_get(results, "runs")) ||
               has_content(json_object_get(results, "measured"));

    for (size_t i = 0; !has && i < sizeof sources / sizeof sources[0]; i++)
        has = has_content(json_object_get(results, sources[i].key));
    return has;
}

json_t *run_data_gather(const char *dir, const char **kind, struct run_data *data)
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
