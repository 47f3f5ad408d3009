/* SPDX-License-Identifier: MIT */
/* data.c -- reading the data of a run, also of one that is damaged or of another format. */
#include "loadtest/report/data.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
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
#include "loadtest/report/run_files.h"
#include "loadtest/report/sales.h"

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
