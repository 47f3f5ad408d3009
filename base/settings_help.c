/* SPDX-License-Identifier: MIT */
/* settings_help.c -- the help text that a table of settings gives. */
#include "base/settings.h"

#include <inttypes.h>
#include <string.h>

enum { INDENT = 6, WIDTH = 88 };

/* Write `text` in lines of at most WIDTH, each indented. */
static void wrap(FILE *out, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t word = strcspn(text, " ");

        if (column == 0 || column + 1 + word > WIDTH) {
            fprintf(out, "%s%*s", column ? "\n" : "", INDENT, "");
            column = INDENT;
        } else {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void print_setting(const struct setting_program *program,
                          const struct setting *setting, FILE *out)
{
    char key[SETTING_NAME_MAX], variable[SETTING_NAME_MAX];

    fprintf(out, "  --%s", setting->name);
    if (setting->type == SETTING_SWITCH)
        fprintf(out, "[=on|off]");
    else
        fprintf(out, "=%s", setting->meta ? setting->meta : "NAME");
    if (setting->fallback)
        fprintf(out, "  (default %s)", setting->fallback);
    fputc('\n', out);
    wrap(out, setting->help);
    if (setting->type == SETTING_CHOICE) {
        fprintf(out, "%*sone of:", INDENT, "");
        for (size_t i = 0; setting->choices(i); i++)
            fprintf(out, " %s", setting->choices(i));
        fputc('\n', out);
    }
    setting_key(program, setting, key, sizeof key);
    setting_variable(key, variable, sizeof variable);
    fprintf(out, "%*s$%s, in a file: %s\n", INDENT, "", variable, key);
}

void settings_help(const struct setting_program *program, FILE *out)
{
    const char *group = "";

    fprintf(out, "Usage: %s %s\n\n%s\n", program->name, program->synopsis, program->intro);
    for (size_t i = 0; i < program->count; i++) {
        if (strcmp(program->settings[i].group, group) != 0) {
            group = program->settings[i].group;
            fprintf(out, "\n%s\n", group);
        }
        print_setting(program, &program->settings[i], out);
    }
    fprintf(out, "\nEvery program\n"
                 "  --config=FILE   read settings from FILE: lines of key = value; what a file\n"
                 "                  calls a setting stands beside its variable\n"
                 "                  ($SECKILL_CONFIG)\n"
                 "  --show-config   print every setting and where its value comes from\n"
                 "  --help, -h      this text\n"
                 "  --version, -V   the version\n"
                 "A flag wins over the environment, that over the file, that over the default.\n"
                 "An empty variable is as good as none.  Variables and keys of the project's\n"
                 "other programs are passed over; `seckill help environment` lists them all.\n");
    if (program->outro)
        fprintf(out, "\n%s\n", program->outro);
}
