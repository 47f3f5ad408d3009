/* SPDX-License-Identifier: MIT */
/* circumstances.c -- two runs: do their machines differ, and which of their settings do? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"
#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

bool part_machines_differ(const struct run_data *a, const struct run_data *b,
                          char out[DATA_TEXT_MAX])
{
    static const char *const keys[] = {"system", "release", "machine", "processors", "processor",
                                       "memory_mib"};
    const json_t *x = json_object_get(a->json, "machine"), *y = json_object_get(b->json, "machine");

    out[0] = '\0';
    for (size_t i = 0; json_is_object(x) && json_is_object(y) && i < sizeof keys / sizeof keys[0];
         i++) {
        size_t used = strlen(out);

        if (!json_equal(json_object_get(x, keys[i]), json_object_get(y, keys[i])))
            snprintf(out + used, DATA_TEXT_MAX - used, "%s%s", used ? ", " : "", keys[i]);
    }
    return *out != '\0';
}

void part_value(FILE *out, const char *value)
{
    while (*value) {
        size_t length = strcspn(value, "\n");
        char *line = memory_need(strndup(value, length));

        page_text(out, line);
        free(line);
        value += length;
        if (*value) {
            fputs(", ", out);
            value++;
        }
    }
}

/* Is the setting a place of files?  The place of a run's files does not change its figures. */
static bool is_place(const char *name)
{
    return strcmp(name, "out") == 0 || strcmp(name, "dir") == 0 || strcmp(name, "markdown") == 0 ||
           strcmp(name, "color") == 0 || strcmp(name, "html") == 0 || strcmp(name, "quiet") == 0 ||
           strcmp(name, "admin-token-file") == 0 || strcmp(name, "token-key-file") == 0 ||
           strcmp(name, "record") == 0;
}

static bool has(const json_t *settings, const char *name)
{
    const json_t *setting;
    size_t i;

    json_array_foreach(settings, i, setting)
    {
        if (strcmp(json_text(setting, "name"), name) == 0)
            return true;
    }
    return false;
}

static const char *value_of(const json_t *settings, const char *name)
{
    const json_t *setting;
    size_t i;

    json_array_foreach(settings, i, setting)
    {
        if (strcmp(json_text(setting, "name"), name) == 0)
            return json_text(setting, "value");
    }
    return "";
}

/* A row of the table, which begins with the first one. */
static void differing_row(FILE *out, int *rows, const char *name, const char *x, const char *y)
{
    if (strcmp(x, y) == 0)
        return;
    if ((*rows)++ == 0) {
        fputs("<table><thead><tr>", out);
        say_head(out, WORD_SETTING, false);
        say_head(out, WORD_RUN_A, false);
        say_head(out, WORD_RUN_B, false);
        fputs("</tr></thead>\n<tbody>\n", out);
    }
    fputs("<tr><th scope=\"row\"><code>", out);
    page_text(out, name);
    fputs("</code></th><td><code>", out);
    part_value(out, *x ? x : "-");
    fputs("</code></td><td><code>", out);
    part_value(out, *y ? y : "-");
    fputs("</code></td></tr>\n", out);
}

/* The flags of each seckilld, with blanks between them; the caller frees the text. */
static char *flags_of(const struct run_data *data)
{
    const json_t *flags =
        json_object_get(json_object_get(view_sale(data, "."), "run"), "seckilld_flags");
    const json_t *flag;
    char *text = NULL;
    size_t size = 0, i;
    FILE *out = memory_need(open_memstream(&text, &size));

    json_array_foreach(flags, i, flag)
    {
        if (json_is_string(flag))
            fprintf(out, "%s%s", i ? " " : "", json_string_value(flag));
    }
    if (fclose(out) != 0)
        abort();
    return text;
}

static void flags_row(FILE *out, int *rows, const struct run_data *a, const struct run_data *b)
{
    char *x = flags_of(a), *y = flags_of(b);

    differing_row(out, rows, "seckilld", x, y);
    free(x);
    free(y);
}

/* The settings of both lists that differ; what only one run has differs as well. */
static void setting_rows(FILE *out, int *rows, const char *before, const json_t *x,
                         const json_t *y)
{
    const json_t *setting;
    char *name = NULL;
    size_t i;

    for (int is_second = 0; is_second < 2; is_second++)
        json_array_foreach(is_second ? y : x, i, setting)
        {
            const char *key = json_text(setting, "name");

            if (is_place(key) || (is_second && has(x, key)))
                continue;
            if (asprintf(&name, "%s%s", before, key) < 0)
                abort();
            differing_row(out, rows, name, value_of(x, key), value_of(y, key));
            free(name);
        }
}

void part_settings_differ(FILE *out, const struct run_data *a, const struct run_data *b)
{
    const json_t *x = json_object_get(a->json, "settings"),
                 *y = json_object_get(b->json, "settings");
    const char *ignored;
    const json_t *service_x = view_service(a, &ignored), *service_y = view_service(b, &ignored);
    int rows = 0;

    say_section(out, "settings", WORD_SETTINGS_DIFFER);
    if (!service_x || !service_y)
        flags_row(out, &rows, a, b);
    differing_row(out, &rows, "commit", json_text(a->json, "commit"), json_text(b->json, "commit"));
    setting_rows(out, &rows, "", x, y);
    if (service_x && service_y)
        setting_rows(out, &rows, "seckilld --", service_x, service_y);
    if (rows > 0)
        fputs("</tbody></table>\n", out);
    fputs("<p>", out);
    if (json_array_size(x) == 0 || json_array_size(y) == 0)
        say(out, SETTINGS_NOT_KEPT);
    else if (rows == 0)
        say(out, SETTINGS_SAME);
    fputs("</p></section>\n", out);
}
