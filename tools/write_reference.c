/* SPDX-License-Identifier: MIT */
/* write_reference.c -- write the files of the tree that repeat a list of the programs: pages
 * of docs/reference, the list of outcomes that the wrk scripts read, and the files by which
 * Prometheus and Grafana watch the service.
 *
 *     write-reference ROOT    every file, below ROOT; `make docs` says .
 *
 * A page has nothing of its own but its first sentences. */
#include <stdio.h>
#include <string.h>

#include "app/config.h"
#include "base/text/exit_codes.h"
#include "base/text/settings.h"
#include "loadtest/command/commands.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "lock/dlock.h"
#include "lock/fault.h"
#include "tools/reference.h"
#include "tools/watch.h"

enum { PATH_MAX_BYTES = 4096, USAGE_MAX = 256 };

/* ---- settings and commands ---- */

static void setting_cells(FILE *out, const struct setting_program *program,
                          const struct setting *s)
{
    char key[SETTING_NAME_MAX], variable[SETTING_NAME_MAX + 16], flag[SETTING_NAME_MAX * 2];

    setting_key(program, s, key, sizeof key);
    setting_variable(key, variable, sizeof variable);
    snprintf(flag, sizeof flag, "--%s%s%s", s->name, s->type == SETTING_SWITCH ? "" : "=",
             s->type == SETTING_SWITCH ? "" : s->meta != NULL ? s->meta : "NAME");
    reference_code_cell(out, flag);
    reference_code_cell(out, s->fallback);
    reference_cell(out, s->help);
    if (s->choices != NULL) {
        bool is_sentence = s->help[strlen(s->help) - 1] == '.';

        if (s->type == SETTING_NAMES)
            fputs(is_sentence ? "All, or any of" : "- all, or any of", out);
        else
            fputs(is_sentence ? "One of" : "- one of", out);
        fputs(s->type == SETTING_NAMES ? " these with commas between them:" : ":", out);
        for (size_t i = 0; s->choices(i) != NULL; i++)
            fprintf(out, " `%s`", s->choices(i));
        fputc(' ', out);
    }
    reference_code_cell(out, variable);
}

static const struct setting_program *const PROGRAMS[] = {
#define X(id, word, help) &command_##id##_program,
    COMMANDS(X)
#undef X
};

enum { PROGRAM_COUNT = sizeof PROGRAMS / sizeof PROGRAMS[0], COMMON_TO = 4 };

static bool is_same(const struct setting *a, const struct setting *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->help, b->help) == 0 &&
           strcmp(a->group, b->group) == 0;
}

/* The setting of the program that is the same as `s`; NULL: it has none. */
static const struct setting *same_in(const struct setting_program *program,
                                     const struct setting *s)
{
    for (size_t i = 0; i < program->count; i++)
        if (is_same(&program->settings[i], s))
            return &program->settings[i];
    return NULL;
}

/* Do so many commands have the same flag that it is described once, above all of them? */
static bool is_common(const struct setting *s)
{
    int count = 0;

    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        count += same_in(PROGRAMS[i], s) != NULL;
    return count >= COMMON_TO;
}

/* The settings of the service, or those of a command that are its own.  The first group of a
 * command needs no heading. */
static void setting_table(FILE *out, const struct setting_program *program)
{
    bool is_service = program == &config_program;
    const char *group = NULL;

    for (size_t i = 0; i < program->count; i++) {
        const struct setting *s = &program->settings[i];

        if (!is_service && is_common(s))
            continue;
        if (group == NULL || strcmp(group, s->group) != 0) {
            if (is_service || group != NULL)
                fprintf(out, "\n%s %s\n", is_service ? "##" : "###", s->group);
            fputs("\n| flag | default | what it says | variable |\n|---|---|---|---|\n", out);
            group = s->group;
        }
        setting_cells(out, program, s);
        reference_end_row(out);
    }
}

/* The flags that many commands have, in the order in which the commands first have them. */
static void common_table(FILE *out)
{
    static const struct setting_program any = {.name = "seckill COMMAND"};

    fputs("\n## Flags of several commands\n\n| flag | default | what it says | variable | "
          "commands |\n|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        for (size_t k = 0; k < PROGRAMS[i]->count; k++) {
            const struct setting *s = &PROGRAMS[i]->settings[k];
            bool is_first = is_common(s);

            for (size_t j = 0; j < i && is_first; j++)
                is_first = same_in(PROGRAMS[j], s) == NULL;
            if (!is_first)
                continue;
            setting_cells(out, &any, s);
            fputc('|', out);
            for (size_t j = i; j < PROGRAM_COUNT; j++)
                if (same_in(PROGRAMS[j], s) != NULL)
                    fprintf(out, " `%s`", PROGRAMS[j]->name + strlen("seckill "));
            fputc(' ', out);
            reference_end_row(out);
        }
}

/* The exit statuses of one program, with what each means there; of a command only those that mean
 * more than the list of all statuses says. */
static void exit_table(FILE *out, const struct setting_program *program)
{
    bool is_service = program == &config_program;

    fprintf(out, "%s\n| exit status | meaning |\n|---|---|\n",
            is_service ? "\n## Exit status\n" : "");
    for (size_t i = 0; i < program->exit_count; i++) {
        if (!is_service && program->exits[i].says == NULL)
            continue;
        fprintf(out, "| %d ", (int)program->exits[i].code);
        reference_cell(out, exit_says(&program->exits[i]));
        reference_end_row(out);
    }
}

static void write_settings(FILE *out)
{
    fputs(
        "# Settings of the service\n\n"
        "`seckilld` takes each setting as a flag, as an environment variable, or from the file "
        "that `--config` names.\nThe key in the file is the name of the flag without its dashes. A "
        "flag overrides the environment, the environment\noverrides the file, and the file "
        "overrides the default.\n\nThe file has lines of `key = value`. A `#` or `;` at the begin "
        "of a line or after a blank begins a comment.\nAn empty value counts as not set, as an "
        "empty variable does. The output of `--show-config` is such a file, but for\nsecrets, "
        "which it prints as `(set)`.\n",
        out);
    setting_table(out, &config_program);
    exit_table(out, &config_program);
}

static void write_commands(FILE *out)
{
    char usage[USAGE_MAX];

    fputs(
        "# Commands of the laboratory\n\n"
        "`seckill COMMAND --help` prints the same, with examples. Every command also has the flags "
        "`--config`,\n`--show-config`, `--help` and `--version`. An exit status that the section "
        "of a command does not have means\nthe same as in [exit codes](exit-codes.md).\n\n"
        "| command | what it does |\n|---|---|\n",
        out);
#define X(id, word, help)                                                                        \
    snprintf(usage, sizeof usage, "seckill %s %s", word, command_##id##_program.synopsis);       \
    reference_code_cell(out, usage);                                                             \
    reference_cell(out, help);                                                                   \
    reference_end_row(out);
    COMMANDS(X)
#undef X
    common_table(out);
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        fprintf(out, "\n## %s\n", PROGRAMS[i]->name);
        setting_table(out, PROGRAMS[i]);
        exit_table(out, PROGRAMS[i]);
    }
}

static void write_exit_codes(FILE *out)
{
    const struct exit_row *row;

    fputs("# Exit codes\n\n"
          "Every program and command of the project exits with one of these statuses. seckilld "
          "exits with 70 also if\nrequests were in progress when --drain-timeout was over, and "
          "with 128 plus the number of a signal that arrives\nduring its start, or a second time "
          "during its stop. If a command fails, `make` prints its status and exits\nwith 2 for "
          "every status. Therefore a script that needs the status has to call `build/seckill` "
          "directly.\n\n"
          "| status | name | meaning |\n|---|---|---|\n",
          out);
    for (size_t i = 0; (row = exit_at(i)) != NULL; i++) {
        fprintf(out, "| %d ", (int)row->code);
        reference_cell(out, row->name);
        reference_cell(out, row->says);
        reference_end_row(out);
    }
}

/* ---- faults ---- */

static void fault_rows(FILE *out)
{
    for (size_t i = 0; server_fault_at(i) != NULL; i++) {
        const struct server_fault *fault = server_fault_at(i);

        reference_code_cell(out, fault->name);
        reference_cell(out, fault->does);
        fputs("| ", out);
        for (int kind = 0; kind < LAB_KIND_COUNT; kind++)
            if (fault->servers & FAULT_ON(kind))
                fprintf(out, "%s ", lab_kind_name((enum lab_kind)kind));
        reference_cell(out, server_fault_lasts(fault) ? "until it is ended" : "an instant");
        reference_cell(out, fault->needs);
        reference_end_row(out);
    }
}

static void write_faults(FILE *out)
{
    fputs(
        "# Faults\n\n## Faults of servers\n\n"
        "`seckill fault run NAME` injects a fault into a server of a running lab, proves that the "
        "fault\nhappened, and ends it if it lasts. Scenarios inject the same faults.\n\n"
        "| fault | what happens | on | lasts | needs |\n|---|---|---|---|---|\n",
        out);
    fault_rows(out);
    fputs("\n## Hazards under load\n\nThe values of `seckill compare --hazards`.\n\n"
          "| hazard | effect |\n|---|---|\n",
          out);
    for (size_t i = 0; hazard_at(i) != NULL; i++) {
        reference_code_cell(out, hazard_at(i)->name);
        reference_cell(out, hazard_at(i)->does);
        reference_end_row(out);
    }
    fputs("\n## Points in a process\n\n"
          "With `--allow-faults`, `POST /faults/arm` arms a fault point: the next thread that "
          "reaches the point waits there,\nor stops or kills the process. At some points the "
          "thread can also fail, or cut its connection.\n\n"
          "| point | state of the thread | also |\n|---|---|---|\n",
          out);
#define X(id, name, more, where)                                                       \
    reference_code_cell(out, name);                                                              \
    reference_cell(out, where);                                                                  \
    reference_cell(out, (more) == 0                                         ? ""                 \
              : ((more) & ~(unsigned)DLOCK_FAULT_CAN_FAIL) == 0 ? "fail"               \
                                                                : "fail, cut");        \
    reference_end_row(out);
    DLOCK_FAULT_POINTS(X)
#undef X
}

#define PAGE(name) "docs/reference/" name ".md"
#define FOOT_OF_PAGE "\n<!-- Written by `make docs` from the programs' own lists. -->\n"

static const struct {
    const char *path;
    void (*write)(FILE *out);
    const char *foot;
} FILES[] = {
    {PAGE("settings"), write_settings, FOOT_OF_PAGE},
    {PAGE("commands"), write_commands, FOOT_OF_PAGE},
    {PAGE("routes"), reference_routes, FOOT_OF_PAGE},
    {PAGE("outcomes"), reference_outcomes, FOOT_OF_PAGE},
    {PAGE("metrics"), reference_metrics, FOOT_OF_PAGE},
    {PAGE("exit-codes"), write_exit_codes, FOOT_OF_PAGE},
    {PAGE("locks"), reference_locks, FOOT_OF_PAGE},
    {PAGE("faults"), write_faults, FOOT_OF_PAGE},
    {"loadtest/wrk/outcomes.lua", reference_outcomes_in_lua, ""},
    {"docker/prometheus-rules.yml", watch_rules, ""},
    {"docker/grafana-dashboard.json", watch_dashboard, ""},
};

int main(int argc, char **argv)
{
    char path[PATH_MAX_BYTES];
    FILE *out;

    for (size_t i = 0; argc == 2 && i < sizeof FILES / sizeof FILES[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", argv[1], FILES[i].path);
        out = fopen(path, "we");
        if (out == NULL) {
            perror(path);
            return EXIT_CANNOT_WRITE;
        }
        FILES[i].write(out);
        fputs(FILES[i].foot, out);
        if (fclose(out) != 0)
            return EXIT_CANNOT_WRITE;
    }
    return argc == 2 ? EXIT_VALID : EXIT_USAGE;
}
