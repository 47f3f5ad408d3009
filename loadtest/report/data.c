/* SPDX-License-Identifier: MIT */
/* data.c -- reading the data of a run, also of one that is damaged or of another format. */
#include "loadtest/report/data.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_data.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/lab/versions.h"
#include "loadtest/report/gather.h"
#include "loadtest/report/sales.h"

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
    text = memory_need(json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9)));
    ok = files_write(path, text);
    if (!ok)
        fprintf(stderr, "seckill: cannot write %s: %s\n", path, strerror(errno));
    free(text);
    json_decref(json);
    return ok;
}
