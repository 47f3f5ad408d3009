/* SPDX-License-Identifier: MIT */
/* settings_values.c -- sets the values of settings, and owns their memory.
 *
 * Every value goes through settings_assign(), whatever its source, so that a bad one is
 * refused in the same words everywhere. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/printable.h"
#include "base/text/settings_inside.h"
#include "base/text/suggest.h"

enum { SAID_MAX = 1000, SHOWN_MAX = 80 };

/* Memory that lives as long as the settings. */
struct kept {
    struct kept *next;
    char bytes[];
};

void settings_complain(const struct settings *s, const char *fmt, ...)
{
    char said[SAID_MAX + 1], line[SAID_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(said, sizeof said, fmt, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", s->program->name, printable(said, line, sizeof line));
}

void *settings_keep(struct settings *s, size_t size)
{
    struct kept *kept = calloc(1, sizeof *kept + size);

    if (!kept)
        abort();
    kept->next = s->heap;
    s->heap = kept;
    return kept->bytes;
}

const char *settings_keep_text(struct settings *s, const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(settings_keep(s, size), text, size);
}

/* Write to stderr that the setting does not accept `text`, which is cut if it is long.
 * Returns false. */
static bool refuse_value(struct loading *l, const struct setting *setting, const char *text,
                         const char *expected)
{
    char shown[SHOWN_MAX];

    settings_complain(l->s, "%s \"%s\" (%s): expected %s", setting->name,
                      printable(text, shown, sizeof shown), l->source, expected);
    return false;
}

static bool assign_choice(struct loading *l, const struct setting *setting,
                          const char *text, void *where)
{
    char shown[SHOWN_MAX];

    for (size_t i = 0; setting->choices(i); i++) {
        if (strcmp(setting->choices(i), text) == 0) {
            *(const char **)where = setting->choices(i);
            return true;
        }
    }
    fprintf(stderr, "%s: --%s: unknown \"%s\" (%s)", l->s->program->name, setting->name,
            printable(text, shown, sizeof shown), l->source);
    suggest_tell(text, setting->choices);
    return false;
}

static bool assign_count(struct loading *l, const struct setting *setting,
                         const char *text, void *where)
{
    char expected[96];
    char *end = NULL;
    int64_t n;

    errno = 0;
    n = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && !isspace((unsigned char)*text) &&
        n >= setting->min && n <= setting->max) {
        *(int64_t *)where = n;
        return true;
    }
    snprintf(expected, sizeof expected, "a whole number from %" PRId64 " to %" PRId64,
             setting->min, setting->max);
    return refuse_value(l, setting, text, expected);
}

static bool assign_duration(struct loading *l, const struct setting *setting,
                            const char *text, void *where)
{
    char low[32], high[32], expected[96];
    int64_t ms;

    if (!duration_parse(text, &ms))
        return refuse_value(l, setting, text,
                            "a duration: a whole number with a unit (ms, s, m or h), such "
                            "as 250ms or 30s");
    if (ms >= setting->min && ms <= setting->max) {
        *(int64_t *)where = ms;
        return true;
    }
    snprintf(expected, sizeof expected, "%s to %s",
             duration_format(setting->min, low, sizeof low),
             duration_format(setting->max, high, sizeof high));
    return refuse_value(l, setting, text, expected);
}

static bool assign_switch(struct loading *l, const struct setting *setting,
                          const char *text, void *where)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        return refuse_value(l, setting, text, "on or off");
    *(bool *)where = strcmp(text, "on") == 0;
    return true;
}

static bool assign_text(struct loading *l, const struct setting *setting, const char *text,
                        void *where)
{
    if (*text == '\0')
        return refuse_value(l, setting, text, "a value; leave it out for the default");
    if (setting->output == SETTING_WRITES_FILE && strcmp(text, "-") == 0)
        return refuse_value(l, setting, text,
                            "the name of a file, because standard output has the text for "
                            "people; ./- is a file of this name");
    *(const char **)where = text;
    return true;
}

/* Add a line to a setting that may be given several times. */
static const char *add_line(struct loading *l, size_t index, const char *text)
{
    const struct setting_origin *before = &l->s->origins[index];
    char *both;
    size_t size;

    if (!before->text || before->rank != l->rank)
        return text;
    size = strlen(before->text) + strlen(text) + 2;
    both = settings_keep(l->s, size);
    snprintf(both, size, "%s\n%s", before->text, text);
    return both;
}

bool settings_assign(struct loading *l, size_t index, const char *text)
{
    const struct setting *setting = &l->s->program->settings[index];
    void *where = (char *)l->values + setting->offset;
    bool ok = true;

    switch (setting->type) {
    case SETTING_TEXT:
    case SETTING_SECRET:
    case SETTING_NAMES:
        ok = assign_text(l, setting, text, where);
        break;
    case SETTING_LINES:
        text = add_line(l, index, text);
        ok = assign_text(l, setting, text, where);
        break;
    case SETTING_CHOICE:
        ok = assign_choice(l, setting, text, where);
        break;
    case SETTING_COUNT:
        ok = assign_count(l, setting, text, where);
        break;
    case SETTING_DURATION:
        ok = assign_duration(l, setting, text, where);
        break;
    case SETTING_SWITCH:
        ok = assign_switch(l, setting, text, where);
        break;
    }
    if (ok)
        l->s->origins[index] =
            (struct setting_origin){.source = l->source, .text = text, .rank = l->rank};
    l->failed = l->failed || !ok;
    return ok;
}

void settings_free(struct settings *s)
{
    struct kept *next;

    for (struct kept *kept = s->heap; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    free(s->origins);
    *s = (struct settings){0};
}
