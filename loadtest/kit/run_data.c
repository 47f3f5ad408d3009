/* SPDX-License-Identifier: MIT */
/* run_data.c -- the command of a run, its settings, its machine and its time. */
#include "loadtest/kit/run_data.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os/clock.h"
#include "base/text/version.h"
#include "loadtest/kit/machine.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"

enum { STARTED_MAX = 40 };

static const struct settings *settings;
static int word_count;
static char **words;
static char started[STARTED_MAX];
static int64_t began_ns;
static double load_before; /* the machine's load average when the command began */

void run_data_begin(const struct settings *s, int argc, char **argv)
{
    time_t now = time(NULL);
    struct tm utc;

    settings = s;
    words = argv;
    word_count = argc;
    while (s->program->passes_to && argv[word_count])
        word_count++;
    began_ns = dlock_clock_ns();
    if (!gmtime_r(&now, &utc) ||
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        started[0] = '\0';
    if (getloadavg(&load_before, 1) != 1)
        load_before = -1;
}

/* The first word is the subcommand, which the program's name has. */
static json_t *command_json(void)
{
    json_t *json = json_array();
    char *name = memory_need(strdup(settings->program->name)), *rest = name, *word;

    while ((word = strsep(&rest, " ")) != NULL)
        json_array_append_new(json, json_string(word));
    free(name);
    for (int i = 1; i < word_count; i++) {
        json_t *text = json_string(words[i]);

        json_array_append_new(json, text ? text : json_string("?")); /* not in UTF-8 */
    }
    return json;
}

static json_t *settings_json(void)
{
    const struct setting_program *program = settings->program;
    json_t *json = json_array();

    for (size_t i = 0; i < program->count; i++) {
        const struct setting_origin *origin = &settings->origins[i];
        bool is_secret = program->settings[i].type == SETTING_SECRET;
        json_t *value = origin->text == NULL ? json_null()
                        : is_secret          ? json_string("(set)")
                                             : json_string(origin->text);

        json_array_append_new(json, json_pack("{s:s, s:o, s:s}", "name",
                                              program->settings[i].name, "value",
                                              value ? value : json_null(), "origin",
                                              origin->source ? origin->source : "default"));
    }
    return json;
}

json_t *run_data_head(const char *kind, enum exit_code status)
{
    char commit[RESULT_COMMIT_MAX];
    bool has_changes;
    json_t *machine = machine_json();

    if (json_is_object(machine) && load_before >= 0)
        json_object_set_new(machine, "load_before", json_real(load_before));
    result_page_commit(commit, &has_changes);
    return memory_need(json_pack(
        "{s:i, s:s, s:s, s:s, s:b, s:s, s:I, s:i, s:o, s:o, s:o}", "format", RUN_DATA_FORMAT,
        "kind", kind, "version", SECKILL_VERSION, "commit", commit, "has_changes",
        has_changes, "started", started, "elapsed_ms",
        (json_int_t)((dlock_clock_ns() - began_ns) / 1000000), "exit", (int)status, "command",
        command_json(), "settings", settings_json(), "machine", machine));
}
