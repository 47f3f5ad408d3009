/* SPDX-License-Identifier: MIT */
/* origin.c -- how a run was made: settings and who gave them, machine, versions, command. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/result_page.h"
#include "loadtest/kit/shell.h"
#include "loadtest/page/scene.h"
#include "loadtest/report/parts.h"
#include "loadtest/report/view.h"

enum { TEXT_MAX = 300 };

/* Print a word as a shell takes it, with the quotes that it needs. */
static void print_word(FILE *out, const char *word)
{
    char *text = NULL;
    size_t size = 0;
    FILE *quoted = result_page_stream(&text, &size);

    shell_print_word(quoted, word);
    if (fclose(quoted) != 0)
        abort();
    page_text(out, text);
    free(text);
}

void part_command(FILE *out, const struct run_data *data)
{
    const json_t *words = json_object_get(data->json, "command"), *word;
    size_t i;

    fputs("<pre translate=\"no\">", out);
    json_array_foreach(words, i, word)
    {
        if (i > 0)
            fputc(' ', out);
        print_word(out, json_is_string(word) ? json_string_value(word) : "?");
    }
    if (json_array_size(words) == 0)
        say(out, NOT_KEPT);
    fputs("</pre>\n", out);
}

/* Is the origin a variable?  The origin of a setting from a file has a colon and the line. */
static bool is_variable(const char *origin)
{
    return strncmp(origin, "SECKILL_", strlen("SECKILL_")) == 0 && !strchr(origin, ':');
}

static void print_from(FILE *out, const char *origin)
{
    if (strcmp(origin, "default") == 0)
        say(out, O_DEFAULT);
    else if (strcmp(origin, "flag") == 0)
        say(out, O_FLAG);
    else if (strcmp(origin, "environment") == 0 || is_variable(origin))
        say(out, O_ENVIRONMENT);
    else
        say(out, O_FILE, origin);
}

static void print_settings(FILE *out, const json_t *settings)
{
    const json_t *setting;
    int omitted = 0;
    char text[FIGURE_MAX];
    size_t i;

    fputs("<div class=\"wide\"><table><thead><tr>", out);
    say_head(out, WORD_SETTING, false);
    say_head(out, WORD_VALUE, false);
    say_head(out, WORD_ORIGIN, false);
    fputs("</tr></thead>\n<tbody>\n", out);
    json_array_foreach(settings, i, setting)
    {
        if (!json_is_string(json_object_get(setting, "value"))) {
            omitted++;
            continue;
        }
        fputs("<tr><th scope=\"row\"><code>", out);
        page_text(out, json_text(setting, "name"));
        fputs("</code></th><td><code>", out);
        part_value(out, json_text(setting, "value"));
        fputs("</code></td><td>", out);
        print_from(out, json_text(setting, "origin"));
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    if (omitted > 0)
        say_in(out, "p class=\"soft\"", O_OMITTED, figure_whole(omitted, text));
}

static void print_service_flags(FILE *out, const json_t *flags)
{
    const json_t *flag;
    size_t i;

    if (json_array_size(flags) == 0)
        return;
    fputs("<p>", out);
    say(out, SERVICE_FLAGS);
    fputs(": <code translate=\"no\">", out);
    json_array_foreach(flags, i, flag)
    {
        fputs(i ? " " : "", out);
        page_text(out, json_is_string(flag) ? json_string_value(flag) : "?");
    }
    fputs("</code></p>\n", out);
}

/* Print every setting of the service, also those that no flag sets, because they matter, too. */
static void print_service(FILE *out, const struct run_data *data)
{
    const char *sale = ".", *kind = json_text(data->json, "kind");
    bool has_stories = strcmp(kind, "scenario") == 0 || strcmp(kind, "matrix") == 0;
    const json_t *settings = view_service(data, &sale);

    if (!settings && !has_stories)
        return;
    say_section(out, "service", WORD_SERVICE_SETTINGS);
    fputs("<p>", out);
    if (!settings)
        say(out, SERVICE_NONE);
    else if (has_stories)
        say(out, SERVICE_ALL_OF_STORY, sale);
    else if (strcmp(kind, "bench") == 0)
        say(out, SERVICE_ALL_OF_BENCH);
    else if (strcmp(sale, ".") == 0)
        say(out, SERVICE_ALL);
    else
        say(out, SERVICE_ALL_OF, sale);
    fputs("</p>\n", out);
    if (settings)
        print_settings(out, settings);
    fputs("</section>\n", out);
}

static void fact(FILE *out, enum word word, const char *value)
{
    fputs("<dt>", out);
    say_words(out, word, (const char *const[]){""});
    fputs("</dt><dd lang=\"en\">", out);
    page_text(out, value);
    fputs("</dd>\n", out);
}

static void print_commit(FILE *out, const struct run_data *data)
{
    const char *commit = json_text(data->json, "commit");

    fputs("<dt>", out);
    say(out, M_COMMIT);
    fputs("</dt><dd>", out);
    if (*commit == '\0')
        say(out, NOT_KEPT);
    else if (json_is_true(json_object_get(data->json, "has_changes")))
        say(out, M_CHANGES, commit);
    else
        fprintf(out, "<code>%s</code>", commit[strspn(commit, "0123456789abcdef")] ? "?" : commit);
    fputs(" <span lang=\"en\">seckill ", out);
    page_text(out, json_text(data->json, "version"));
    fputs("</span></dd>\n", out);
}

static void print_machine(FILE *out, const struct run_data *data)
{
    const json_t *machine = json_object_get(data->json, "machine"), *version;
    char text[TEXT_MAX], number[FIGURE_MAX];
    const char *name;

    fputs("<dl class=\"facts\" translate=\"no\">\n", out);
    snprintf(text, sizeof text, "%s %s, %s", json_text(machine, "system"),
             json_text(machine, "release"), json_text(machine, "machine"));
    fact(out, WORD_M_SYSTEM, text);
    snprintf(text, sizeof text, "%s × %s", figure_whole(json_whole(machine, "processors"), number),
             *json_text(machine, "processor") ? json_text(machine, "processor") : "?");
    fact(out, WORD_M_PROCESSORS, text);
    snprintf(text, sizeof text, "%s MiB", figure_whole(json_whole(machine, "memory_mib"), number));
    fact(out, WORD_M_MEMORY, text);
    if (json_is_number(json_object_get(machine, "load_before")))
        fact(out, WORD_M_LOAD, figure(json_double(machine, "load_before"), number));
    json_object_foreach(json_object_get(data->json, "versions"), name, version)
    {
        fputs("<dt>", out);
        fputs("<span lang=\"en\">", out);
        page_text(out, name);
        fputs("</span></dt><dd lang=\"en\">", out);
        page_text(out, json_is_string(version) ? json_string_value(version) : "?");
        fputs("</dd>\n", out);
    }
    print_commit(out, data);
    fputs("</dl>\n", out);
    if (!view_is_remote(data))
        say_in(out, "p class=\"soft\"", M_SHARED);
}

void part_origin(FILE *out, const struct run_data *data)
{
    const json_t *settings = json_object_get(data->json, "settings");

    say_section(out, "settings", WORD_SETTINGS);
    if (json_array_size(settings) > 0)
        print_settings(out, settings);
    else
        say_in(out, "p", NOT_KEPT);
    print_service_flags(
        out, json_object_get(json_object_get(view_sale(data, "."), "run"), "seckilld_flags"));
    fputs("</section>\n", out);
    print_service(out, data);
    say_section(out, "machine", WORD_MACHINE);
    if (json_is_object(json_object_get(data->json, "machine")))
        print_machine(out, data);
    else
        say_in(out, "p", NOT_KEPT);
    fputs("</section>\n", out);
}
