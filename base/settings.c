/* SPDX-License-Identifier: MIT */
/* settings.c -- reads settings from the file, the environment and the command line.
 *
 * Every value goes through assign(), whatever its source, so that a bad one is refused
 * in the same words everywhere. */
#include "base/settings.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "base/duration.h"
#include "base/suggest.h"
#include "base/version.h"

enum { NAME_MAX_BYTES = 64, OPTION_BASE = 256, FIXED_OPTION_COUNT = 4 };

enum fixed_option { OPTION_HELP = 1, OPTION_VERSION, OPTION_SHOW, OPTION_CONFIG };

/* Text that outlives the file it was read from. */
struct kept_text {
    struct kept_text *next;
    char text[];
};

struct loading {
    struct settings *s;
    void *values;
    const char *source;
    bool failed;
    bool is_file; /* texts from the file must be copied */
};

static void complain(const struct settings *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(const struct settings *s, const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", s->program->name);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
}

void setting_environment_name(const struct setting *setting, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "SECKILL_%s", setting->name);

    for (size_t i = 0; i < n && i < size; i++)
        out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

static int find(const struct setting_program *program, const char *name)
{
    for (size_t i = 0; i < program->count; i++) {
        if (strcmp(program->settings[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* suggest() takes a function without state. */
static _Thread_local const struct setting_program *naming;

static const char *name_at(size_t i)
{
    return i < naming->count ? naming->settings[i].name : NULL;
}

static const char *suggest_setting(const struct setting_program *program, const char *word)
{
    naming = program;
    return suggest(word, name_at);
}

static const char *keep(struct loading *l, const char *text)
{
    size_t size = strlen(text) + 1;
    struct kept_text *kept;

    if (!l->is_file)
        return text;
    kept = malloc(sizeof *kept + size);
    if (!kept)
        abort();
    memcpy(kept->text, text, size);
    kept->next = l->s->heap;
    l->s->heap = kept;
    return kept->text;
}

static bool assign_choice(struct loading *l, const struct setting *setting,
                          const char *text, void *where)
{
    const char *near;

    for (size_t i = 0; setting->choices(i); i++) {
        if (strcmp(setting->choices(i), text) == 0) {
            *(const char **)where = setting->choices(i);
            return true;
        }
    }
    near = suggest(text, setting->choices);
    fprintf(stderr, "%s: unknown %s \"%s\" (%s)", l->s->program->name, setting->name, text,
            l->source);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, " one of:");
    for (size_t i = 0; setting->choices(i); i++)
        fprintf(stderr, " %s", setting->choices(i));
    fputc('\n', stderr);
    return false;
}

static bool assign_count(struct loading *l, const struct setting *setting,
                         const char *text, void *where)
{
    char *end = NULL;
    int64_t n;

    errno = 0;
    n = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || isspace((unsigned char)*text) ||
        n < setting->min || n > setting->max) {
        complain(l->s, "%s \"%s\" (%s): expected a whole number from %" PRId64 " to %" PRId64,
                 setting->name, text, l->source, setting->min, setting->max);
        return false;
    }
    *(int64_t *)where = n;
    return true;
}

static bool assign_duration(struct loading *l, const struct setting *setting,
                            const char *text, void *where)
{
    char low[32], high[32];
    int64_t ms;

    if (!duration_parse(text, &ms)) {
        complain(l->s,
                 "%s \"%s\" (%s): expected a duration: a whole number with a unit (ms, s, "
                 "m or h), such as 250ms or 30s",
                 setting->name, text, l->source);
        return false;
    }
    if (ms < setting->min || ms > setting->max) {
        complain(l->s, "%s \"%s\" (%s): expected %s to %s", setting->name, text, l->source,
                 duration_format(setting->min, low, sizeof low),
                 duration_format(setting->max, high, sizeof high));
        return false;
    }
    *(int64_t *)where = ms;
    return true;
}

static bool assign_switch(struct loading *l, const struct setting *setting,
                          const char *text, void *where)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0) {
        complain(l->s, "%s \"%s\" (%s): expected on or off", setting->name, text, l->source);
        return false;
    }
    *(bool *)where = strcmp(text, "on") == 0;
    return true;
}

/* What the same source said before, and now this. */
static const char *add_line(struct loading *l, size_t index, const char *text)
{
    const struct setting_origin *before = &l->s->origins[index];
    bool is_same = before->text && strcmp(before->source, l->source) == 0;
    size_t size = strlen(text) + 1 + (is_same ? strlen(before->text) + 1 : 0);
    struct kept_text *kept;

    if (!is_same)
        return text;
    kept = malloc(sizeof *kept + size);
    if (!kept)
        abort();
    snprintf(kept->text, size, "%s\n%s", before->text, text);
    kept->next = l->s->heap;
    l->s->heap = kept;
    return kept->text;
}

static bool assign(struct loading *l, size_t index, const char *text)
{
    const struct setting *setting = &l->s->program->settings[index];
    void *where = (char *)l->values + setting->offset;
    const char *kept = keep(l, text);
    bool ok = true;

    switch (setting->type) {
    case SETTING_TEXT:
    case SETTING_SECRET:
        *(const char **)where = kept;
        break;
    case SETTING_LINES:
        kept = add_line(l, index, kept);
        *(const char **)where = kept;
        break;
    case SETTING_CHOICE:
        ok = assign_choice(l, setting, kept, where);
        break;
    case SETTING_COUNT:
        ok = assign_count(l, setting, kept, where);
        break;
    case SETTING_DURATION:
        ok = assign_duration(l, setting, kept, where);
        break;
    case SETTING_SWITCH:
        ok = assign_switch(l, setting, kept, where);
        break;
    }
    if (ok)
        l->s->origins[index] = (struct setting_origin){l->source, kept};
    l->failed = l->failed || !ok;
    return ok;
}

static void load_defaults(struct loading *l)
{
    l->source = "default";
    for (size_t i = 0; i < l->s->program->count; i++) {
        if (l->s->program->settings[i].fallback)
            assign(l, i, l->s->program->settings[i].fallback);
        else
            l->s->origins[i] = (struct setting_origin){"default", NULL};
    }
}

static int on_file_line(void *arg, const char *section, const char *key, const char *value)
{
    struct loading *l = arg;
    int index = find(l->s->program, key);
    const char *near;

    if (index >= 0 && *section == '\0')
        return assign(l, (size_t)index, value);
    near = suggest_setting(l->s->program, key);
    if (*section != '\0')
        complain(l->s, "%s: this file has no sections, found [%s]", l->source, section);
    else if (near)
        complain(l->s, "%s: unknown key \"%s\"; did you mean \"%s\"?", l->source, key, near);
    else
        complain(l->s, "%s: unknown key \"%s\"; --show-config lists them", l->source, key);
    l->failed = true;
    return 1;
}

static void load_file(struct loading *l, const char *path)
{
    int rc;

    l->source = path;
    l->is_file = true;
    rc = ini_parse(path, on_file_line, l);
    l->is_file = false;
    if (rc == 0 || l->failed)
        return;
    if (rc > 0)
        complain(l->s, "%s: line %d is not of the form key = value", path, rc);
    else
        complain(l->s, "cannot read %s: %s", path, strerror(errno));
    l->failed = true;
}

static void load_environment(struct loading *l)
{
    char name[NAME_MAX_BYTES];

    for (size_t i = 0; i < l->s->program->count; i++) {
        const char *text;

        setting_environment_name(&l->s->program->settings[i], name, sizeof name);
        text = getenv(name);
        if (text && *text) {
            l->source = "environment";
            assign(l, i, text);
        }
    }
}

static void add_option(struct option *option, const char *name, int has_arg, int value)
{
    *option = (struct option){.name = name, .has_arg = has_arg, .val = value};
}

static struct option *make_options(const struct setting_program *program)
{
    struct option *options = calloc(program->count + FIXED_OPTION_COUNT + 1, sizeof *options);
    size_t n = 0;

    if (!options)
        abort();
    for (size_t i = 0; i < program->count; i++)
        add_option(&options[n++], program->settings[i].name,
                   program->settings[i].type == SETTING_SWITCH ? optional_argument
                                                                : required_argument,
                   OPTION_BASE + (int)i);
    add_option(&options[n++], "help", no_argument, OPTION_HELP);
    add_option(&options[n++], "version", no_argument, OPTION_VERSION);
    add_option(&options[n++], "show-config", no_argument, OPTION_SHOW);
    add_option(&options[n++], "config", required_argument, OPTION_CONFIG);
    return options;
}

static void refuse_flag(const struct settings *s, const char *word)
{
    char name[NAME_MAX_BYTES];
    const char *near = NULL;

    if (strncmp(word, "--", 2) == 0) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        near = suggest_setting(s->program, name);
    }
    if (near)
        complain(s, "unknown flag %s; did you mean --%s?", word, near);
    else
        complain(s, "unknown flag %s; --help lists them", word);
}

/* One pass over the flags.  The first pass (`l` is NULL) only looks for the fixed ones,
 * since --config must be known before the flags that override it. */
static bool scan_flags(struct settings *s, struct loading *l, int argc, char **argv,
                       const char **config, enum fixed_option *asked)
{
    struct option *options = make_options(s->program);
    bool ok = true;
    int c;

    optind = 0; /* glibc: start over, also for the next program table */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
        if (c == ':') {
            complain(s, "%s needs a value", argv[optind - 1]);
            ok = false;
        } else if (c == '?') {
            refuse_flag(s, argv[optind - 1]);
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
            assign(l, (size_t)(c - OPTION_BASE), optarg ? optarg : "on");
        }
    }
    s->operands = argv + optind;
    s->operand_count = argc - optind;
    if (ok && s->operand_count > s->program->max_operands) {
        complain(s, "unexpected \"%s\"; --help shows what it takes",
                 s->operands[s->program->max_operands]);
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
    if (!scan_flags(s, NULL, argc, argv, &config, &asked))
        return SETTINGS_USAGE;
    if (asked == OPTION_HELP || asked == OPTION_VERSION)
        return answer(s, asked);

    load_defaults(&l);
    if (config && *config)
        load_file(&l, config);
    if (!l.failed)
        load_environment(&l);
    l.source = "flag";
    if (!l.failed)
        scan_flags(s, &l, argc, argv, &config, &asked);
    if (l.failed)
        return SETTINGS_USAGE;
    return asked == OPTION_SHOW ? answer(s, asked) : SETTINGS_OK;
}

void settings_free(struct settings *s)
{
    struct kept_text *next;

    for (struct kept_text *kept = s->heap; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    free(s->origins);
    *s = (struct settings){0};
}

bool settings_is_default(const struct settings *s, const char *name)
{
    int index = find(s->program, name);

    return index < 0 || strcmp(s->origins[index].source, "default") == 0;
}

void settings_show(const struct settings *s, FILE *out)
{
    for (size_t i = 0; i < s->program->count; i++) {
        const struct setting *setting = &s->program->settings[i];
        const char *text = s->origins[i].text;

        if (text && setting->type == SETTING_SECRET)
            text = "(set)";
        fprintf(out, "%s = %s  # %s\n", setting->name, text ? text : "",
                s->origins[i].source);
    }
}
