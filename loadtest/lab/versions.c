/* SPDX-License-Identifier: MIT */
/* versions.c -- ask each program for its version. */
#include "loadtest/lab/versions.h"

#include <stdio.h>
#include <string.h>

#include "loadtest/kit/files.h"
#include "loadtest/lab/lab.h"

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

json_t *lab_versions(void)
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
