/* SPDX-License-Identifier: MIT */
/* settings_load.c -- reads settings from the file, the environment and the command line. */
#include "base/text/settings.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/printable.h"
#include "base/text/settings_inside.h"
#include "base/text/suggest.h"
#include "base/text/version.h"

enum { OPTION_BASE = 256, FIXED_OPTION_COUNT = 4 };

enum fixed_option { OPTION_HELP = 1, OPTION_VERSION, OPTION_SHOW, OPTION_CONFIG };

static void load_defaults(struct loading *l)
{
    l->source = "default";
    l->rank = SETTING_DEFAULT;
    for (size_t i = 0; i < l->s->program->count; i++) {
        if (l->s->program->settings[i].fallback)
            settings_assign(l, i, l->s->program->settings[i].fallback);
        else
            l->s->origins[i] = (struct setting_origin){.source = "default"};
    }
}

static void load_variable(struct loading *l, size_t index, const char *key)
{
    char name[SETTING_NAME_MAX];
    const char *text;

    setting_variable(key, name, sizeof name);
    text = getenv(name);
    if (text && *text) {
        l->source = settings_keep_text(l->s, name);
        settings_assign(l, index, text);
    }
}

static void load_environment(struct loading *l)
{
    const struct setting_program *program = l->s->program;

    l->rank = SETTING_ENVIRONMENT;
    for (size_t i = 0; i < program->count; i++)
        load_variable(l, i, l->s->keys[i]);
    settings_check_environment(l);
}

static void add_option(struct option *option, const char *name, int has_arg, int value)
{
    *option = (struct option){.name = name, .has_arg = has_arg, .val = value};
}

static struct option *make_options(const struct setting_program *program)
{
    struct option *options =
        calloc(program->count + FIXED_OPTION_COUNT + 1, sizeof *options);
    size_t n = 0;

    if (!options)
        abort();
    for (size_t i = 0; i < program->count; i++) {
        const struct setting *setting = &program->settings[i];
        int has_arg =
            setting->type == SETTING_SWITCH ? optional_argument : required_argument;

        add_option(&options[n++], setting->name, has_arg, OPTION_BASE + (int)i);
    }
    add_option(&options[n++], "help", no_argument, OPTION_HELP);
    add_option(&options[n++], "version", no_argument, OPTION_VERSION);
    add_option(&options[n++], "show-config", no_argument, OPTION_SHOW);
    add_option(&options[n++], "config", required_argument, OPTION_CONFIG);
    return options;
}

/* A word up to what may be a value, which may be a URL with a password. */
#define NAME_IN(word) (int)strcspn(word, "=:@ "), word

static void refuse_flag(const struct settings *s, const char *word)
{
    char name[SETTING_NAME_MAX];
    bool passed_on = false;
    const char *near = NULL;

    if (strncmp(word, "--", 2) == 0) {
        snprintf(name, sizeof name, "%.*s", NAME_IN(word + 2));
        near = settings_suggest_flag(s, name, &passed_on);
    }
    if (!near)
        settings_complain(s, "unknown flag %.*s; --help lists them", NAME_IN(word));
    else if (passed_on && strcmp(near, name) == 0)
        settings_complain(s, "--%s is a flag of %s, and stands after --: %s -- --%s=...", name,
                          s->program->passes_to, s->program->name, name);
    else if (passed_on)
        settings_complain(s, "unknown flag %.*s; did you mean --%s of %s?  It stands after "
                             "--: %s -- --%s=...",
                          NAME_IN(word), near, s->program->passes_to, s->program->name, near);
    else
        settings_complain(s, "unknown flag %.*s; did you mean --%s?", NAME_IN(word), near);
}

/* Go over the flags.  The first pass (`l` is NULL) only looks for the fixed ones,
 * since --config must be known before the flags that override it. */
static bool scan_flags(struct settings *s, struct loading *l, int argc, char **argv,
                       const char **config, enum fixed_option *asked)
{
    struct option *options = make_options(s->program);
    bool ok = true;
    int c, index = -1;

    optind = 0; /* glibc: start over, also for the next program table */
    opterr = 0;
    for (; (c = getopt_long(argc, argv, ":hV", options, &index)) != -1; index = -1) {
        const char *word = argv[optind - 1 - (optarg && optarg == argv[optind - 1])];

        if (c == ':') {
            settings_complain(s, "%s needs a value", word);
            ok = false;
        } else if (c == '?' || (index >= 0 && /* no abbreviations */
                                strcspn(word + 2, "=") < strlen(options[index].name))) {
            refuse_flag(s, word);
            ok = false;
        } else if (c == 'h' || c == OPTION_HELP) {
            *asked = OPTION_HELP;
        } else if (c == 'V' || c == OPTION_VERSION) {
            *asked = OPTION_VERSION;
        } else if (c == OPTION_SHOW) {
            *asked = *asked ? *asked : OPTION_SHOW;
        } else if (c == OPTION_CONFIG) {
            *config = optarg;
        } else if (l) {
            settings_assign(l, (size_t)(c - OPTION_BASE), optarg ? optarg : "on");
        }
    }
    s->operands = argv + optind;
    s->operand_count = argc - optind;
    if (ok && s->operand_count > s->program->max_operands) {
        settings_complain(s, "unexpected \"%.*s\"; --help shows what it takes",
                          NAME_IN(s->operands[s->program->max_operands]));
        ok = false;
    }
    free(options);
    return ok;
}

static enum settings_result answer(struct settings *s, enum fixed_option asked)
{
    if (asked == OPTION_HELP)
        settings_help(s->program, stdout);
    else if (asked == OPTION_VERSION)
        printf("%s %s\n", s->program->name, SECKILL_VERSION);
    else
        settings_show(s, stdout);
    return SETTINGS_EXIT;
}

static void name_keys(struct settings *s)
{
    char key[SETTING_NAME_MAX];

    s->keys = settings_keep(s, (s->program->count + 1) * sizeof *s->keys);
    for (size_t i = 0; i < s->program->count; i++) {
        setting_key(s->program, &s->program->settings[i], key, sizeof key);
        s->keys[i] = settings_keep_text(s, key);
    }
}

enum settings_result settings_load(struct settings *s,
                                   const struct setting_program *program, void *values,
                                   int argc, char **argv)
{
    struct loading l = {.s = s, .values = values};
    const char *config = getenv("SECKILL_CONFIG");
    enum fixed_option asked = 0;

    *s = (struct settings){.program = program};
    s->origins = calloc(program->count + 1, sizeof *s->origins);
    if (!s->origins)
        abort();
    name_keys(s);
    if (!scan_flags(s, NULL, argc, argv, &config, &asked))
        return SETTINGS_USAGE;
    if (asked == OPTION_HELP || asked == OPTION_VERSION)
        return answer(s, asked);

    load_defaults(&l);
    if (config && *config)
        settings_read_file(&l, config);
    if (!l.failed)
        load_environment(&l);
    l.source = "flag";
    l.rank = SETTING_FLAG;
    if (!l.failed)
        scan_flags(s, &l, argc, argv, &config, &asked);
    if (l.failed)
        return SETTINGS_USAGE;
    if (program->complete)
        program->complete(s, values);
    return asked == OPTION_SHOW ? answer(s, asked) : SETTINGS_OK;
}

static enum setting_rank rank_of(const struct settings *s, size_t offset)
{
    for (size_t i = 0; i < s->program->count; i++) {
        if (s->program->settings[i].offset == offset)
            return s->origins[i].rank;
    }
    return SETTING_DEFAULT;
}

bool settings_is_default(const struct settings *s, size_t offset)
{
    return rank_of(s, offset) == SETTING_DEFAULT;
}

bool settings_is_flag(const struct settings *s, size_t offset)
{
    return rank_of(s, offset) == SETTING_FLAG;
}

const char *settings_common(const struct setting_program *program,
                            enum setting_common common, const void *values)
{
    for (size_t i = 0; i < program->count; i++) {
        if (program->settings[i].common == common)
            return *(const char *const *)((const char *)values +
                                          program->settings[i].offset);
    }
    return NULL;
}

void settings_fill(struct settings *s, void *values, size_t offset, const char *text)
{
    for (size_t i = 0; i < s->program->count; i++) {
        if (s->program->settings[i].offset != offset || s->origins[i].text)
            continue;
        *(const char **)((char *)values + offset) = text;
        s->origins[i].text = text;
    }
}

/* Write the value of a setting; each line of SETTING_LINES stands alone, as in a file. */
static void show_setting(const struct settings *s, size_t i, FILE *out)
{
    const char *text = s->origins[i].text, *next = NULL;

    if (text && s->program->settings[i].type == SETTING_SECRET)
        text = "(set)";
    for (text = text ? text : ""; text; text = next) {
        size_t len = strcspn(text, "\n");

        fprintf(out, "%s = %.*s  # %s\n", s->keys[i], (int)len, text, s->origins[i].source);
        next = text[len] ? text + len + 1 : NULL;
    }
}

void settings_show(const struct settings *s, FILE *out)
{
    for (size_t i = 0; i < s->program->count; i++)
        show_setting(s, i, out);
}
