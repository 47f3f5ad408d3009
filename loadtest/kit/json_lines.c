/* SPDX-License-Identifier: MIT */
/* json_lines.c -- one JSON object a line on stdout while a command runs. */
#include "loadtest/kit/json_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/utf8.h"
#include "base/text/duration.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *lines; /* NULL: no JSON lines are wanted */
static int64_t begin_ns;
static int reason; /* why a line could not be written; 0: all were */
static bool has_end;

bool json_lines_begin(bool is_quiet)
{
    int people = is_quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
    int programs;
    bool ok;

    fflush(stdout);
    programs = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ok = people >= 0 && programs >= 0 && dup2(people, STDOUT_FILENO) == STDOUT_FILENO;
    if (people > STDERR_FILENO)
        close(people);
    lines = ok ? fdopen(programs, "w") : NULL;
    if (!lines && programs >= 0)
        close(programs);
    begin_ns = monotonic_ns();
    return lines != NULL;
}

bool json_lines_are_on(void)
{
    return lines != NULL;
}

void json_lines_write(const char *event, json_t *rest)
{
    json_t *json;
    char *text;

    if (lines) {
        json = json_pack("{s:i, s:s, s:I}", "format", JSON_LINES_FORMAT, "event", event, "at_ms",
                         (json_int_t)((monotonic_ns() - begin_ns) / 1000000));
        json_object_update(json, rest);
        text = files_json_text(json, JSON_COMPACT);
        pthread_mutex_lock(&mutex);
        errno = 0;
        fprintf(lines, "%s\n", text);
        if ((fflush(lines) != 0 || ferror(lines)) && reason == 0)
            reason = errno;
        pthread_mutex_unlock(&mutex);
        free(text);
        json_decref(json);
        has_end = has_end || strcmp(event, "end") == 0;
    }
    json_decref(rest);
}

json_t *json_lines_text(const char *text)
{
    size_t size = text ? UTF8_SHOWN_SIZE(strlen(text)) : 0;
    char *clean;
    json_t *json;

    if (!text)
        return json_null();
    clean = memory_need(malloc(size));
    utf8_show(text, clean, size);
    json = json_string(clean);
    free(clean);
    return json;
}

void json_lines_end_anyway(int exit_status)
{
    if (!has_end)
        json_lines_write("end", json_pack("{s:i, s:n}", "exit", exit_status, "dir"));
}

int json_lines_reason(void)
{
    return reason;
}
