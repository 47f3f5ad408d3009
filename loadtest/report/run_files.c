/* SPDX-License-Identifier: MIT */
/* run_files.c -- reading the files of a run, also where they are missing or damaged. */
#include "loadtest/report/run_files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
