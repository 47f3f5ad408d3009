/* SPDX-License-Identifier: MIT */
/* service_settings.c -- every setting of a seckilld process, as the process prints it. */
#include "loadtest/sale/service_settings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/order_paths.h"
#include "loadtest/lab/environment.h"
#include "loadtest/sale/service_plan.h"

#define SETTINGS_FILE "service.json"
enum { ANSWER_MS = 10000, END_MS = 1000 };

/* A line is "name = value  # origin"; the value may have any of these signs. */
static void read_line(char *line, json_t *list)
{
    char *value = strstr(line, " = "), *origin = NULL;

    for (char *at = line; (at = strstr(at, "  # ")) != NULL; at++)
        origin = at;
    if (!value || !origin || origin < value)
        return;
    *value = *origin = '\0';
    value += strlen(" = ");
    origin += strlen("  # ");
    json_array_append_new(list, json_pack("{s:s, s:s?, s:s}", "name", line, "value",
                                          value < origin && *value ? value : NULL, "origin",
                                          origin));
}

/* The settings that --show-config printed; lines of another form are passed over.  The caller
 * owns the array. */
static json_t *read_settings(const char *text)
{
    json_t *list = json_array();
    char *copy = strdup(text), *rest = copy, *line;

    if (!copy || !list)
        abort();
    while ((line = strsep(&rest, "\n")) != NULL)
        read_line(line, list);
    free(copy);
    return list;
}

/* The exit status of the program, which prints into `said` and complains to `stderr_fd` (-1: to
 * nobody); -1: none within ANSWER_MS. */
static int ask(const struct service_plan *plan, FILE *said, int stderr_fd)
{
    const char *own[] = {plan->variables ? plan->variables[0] : NULL, NULL};
    char **env = environment_make(plan->lab, own);
    struct service_words words = {0};
    struct child_options options = child_options_default(words.argv);
    struct child child = {0};
    int status = -1, n = 0;

    service_words_make(&words, plan, plan->first);
    while (words.argv[n])
        n++;
    words.argv[n] = "--show-config";
    words.argv[n + 1] = NULL;
    options.env = env;
    options.stdout_fd = fileno(said);
    options.stderr_fd = stderr_fd;
    options.death_signal = SIGKILL;
    if (child_start(&child, &options) && !child_wait(&child, ANSWER_MS, &status))
        child_end(&child, SIGKILL, END_MS);
    environment_free(env);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The output of the program, which the caller frees; NULL: the program failed. */
static char *ask_text(const struct service_plan *plan)
{
    FILE *said = tmpfile();
    char *text = NULL;
    size_t size = 0;

    if (said && ask(plan, said, -1) == EXIT_VALID) {
        rewind(said);
        if (getdelim(&text, &size, '\0', said) < 0) {
            free(text);
            text = NULL;
        }
    }
    if (said)
        fclose(said);
    return text;
}

bool service_settings_find(const char *dir, const char *name, char *out, size_t size)
{
    char path[FILES_PATH_MAX];
    const json_t *entry;
    const char *value = NULL;
    json_t *list;
    size_t i;

    files_join(path, dir, SETTINGS_FILE);
    list = access(path, R_OK) == 0 ? files_read_json(path) : NULL;
    json_array_foreach(list, i, entry)
    {
        const char *found = json_string_value(json_object_get(entry, "name"));

        if (found && strcmp(found, name) == 0)
            value = json_string_value(json_object_get(entry, "value"));
    }
    if (value)
        snprintf(out, size, "%s", value);
    json_decref(list);
    return value != NULL;
}

bool service_settings_stream(const char *dir, const char *otherwise,
                             char name[SERVICE_STREAM_MAX])
{
    char path[SERVICE_STREAM_MAX] = "";

    if (!service_settings_find(dir, "stream-name", name, SERVICE_STREAM_MAX)) {
        snprintf(name, SERVICE_STREAM_MAX, "%s", otherwise);
        return true;
    }
    return service_settings_find(dir, "order-path", path, sizeof path) &&
           strcmp(path, order_path_name_at(ORDER_PATH_stream)) == 0;
}

bool service_settings_suit(const char *const *flags)
{
    struct service_plan plan = {.flags = flags};
    FILE *said = tmpfile();
    bool is_refused = said && ask(&plan, said, STDERR_FILENO) == EXIT_USAGE;

    if (said)
        fclose(said);
    return !is_refused;
}

bool service_settings_write(const struct service_plan *plan)
{
    char path[FILES_PATH_MAX], *text = ask_text(plan);
    json_t *list;
    bool ok;

    if (!text)
        return true;
    list = read_settings(text);
    files_join(path, plan->dir, SETTINGS_FILE);
    ok = files_write_json(path, list);
    json_decref(list);
    free(text);
    return ok;
}
