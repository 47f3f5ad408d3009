/* SPDX-License-Identifier: MIT */
/* circumstances.c -- two runs: do their machines differ, and which of their settings do? */
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"

bool part_machines_differ(const struct run_data *a, const struct run_data *b,
                          char out[DATA_TEXT_MAX])
{
    static const char *const keys[] = {"system", "release", "machine", "processors", "processor",
                                       "memory_mib"};
    const json_t *x = json_object_get(a->json, "machine"), *y = json_object_get(b->json, "machine");

    out[0] = '\0';
    for (size_t i = 0; json_is_object(x) && json_is_object(y) && i < sizeof keys / sizeof keys[0]; i++) {
        size_t used = strlen(out);

        if (!json_equal(json_object_get(x, keys[i]), json_object_get(y, keys[i])))
            snprintf(out + used, DATA_TEXT_MAX - used, "%s%s", used ? ", " : "", keys[i]);
    }
    return *out != '\0';
}

/* Where a run keeps its files says nothing of what it measured. */
static bool is_place(const char *name)
{
    return strcmp(name, "out") == 0 || strcmp(name, "dir") == 0 || strcmp(name, "markdown") == 0 ||
           strcmp(name, "color") == 0 || strcmp(name, "html") == 0 || strcmp(name, "quiet") == 0;
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
        fputs("<table><thead><tr><th scope=\"col\">", out);
        say(out, SETTING);
        fputs("</th><th scope=\"col\">", out);
        say(out, RUN_A);
        fputs("</th><th scope=\"col\">", out);
        say(out, RUN_B);
        fputs("</th></tr></thead>\n<tbody>\n", out);
    }
    fputs("<tr><th scope=\"row\"><code>", out);
    page_text(out, name);
    fputs("</code></th><td><code>", out);
    page_text(out, *x ? x : "-");
    fputs("</code></td><td><code>", out);
    page_text(out, *y ? y : "-");
    fputs("</code></td></tr>\n", out);
}

static void flags_of(const struct run_data *data, char out[DATA_TEXT_MAX])
{
    const json_t *flags =
        json_object_get(json_object_get(view_sale(data, "."), "run"), "seckilld_flags");
    const json_t *flag;
    size_t i;

    out[0] = '\0';
    json_array_foreach(flags, i, flag)
    {
        size_t used = strlen(out);

        if (json_is_string(flag))
            snprintf(out + used, DATA_TEXT_MAX - used, "%s%s", used ? " " : "", json_string_value(flag));
    }
}

void part_settings_differ(FILE *out, const struct run_data *a, const struct run_data *b)
{
    const json_t *x = json_object_get(a->json, "settings"), *y = json_object_get(b->json, "settings");
    char flags_a[DATA_TEXT_MAX], flags_b[DATA_TEXT_MAX];
    const json_t *setting;
    int rows = 0;
    size_t i;

    fputs("<section id=\"settings\"><h2>", out);
    say(out, SETTINGS_DIFFER);
    fputs("</h2>\n", out);
    flags_of(a, flags_a);
    flags_of(b, flags_b);
    differing_row(out, &rows, "seckilld", flags_a, flags_b);
    differing_row(out, &rows, "commit", json_text(a->json, "commit"), json_text(b->json, "commit"));
    json_array_foreach(x, i, setting)
    {
        const char *name = json_text(setting, "name");

        if (!is_place(name))
            differing_row(out, &rows, name, json_text(setting, "value"), value_of(y, name));
    }
    if (rows > 0)
        fputs("</tbody></table>\n", out);
    fputs("<p>", out);
    if (json_array_size(x) == 0 || json_array_size(y) == 0)
        say(out, SETTINGS_NOT_KEPT);
    else if (rows == 0)
        say(out, SETTINGS_SAME);
    fputs("</p></section>\n", out);
}
