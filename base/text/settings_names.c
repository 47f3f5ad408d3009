/* SPDX-License-Identifier: MIT */
/* settings_names.c -- the names of settings: keys, variables, and the most similar
 * name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/known_settings.h"
#include "base/text/settings_inside.h"
#include "base/text/suggest.h"

static const char VARIABLE_PREFIX[] = "SECKILL_";
static const char COMMAND_PREFIX[] = "seckill ";

enum { VARIABLE_PREFIX_LEN = sizeof VARIABLE_PREFIX - 1 };

/* Keys of the variables that are no settings. */
static const char *const VARIABLE_KEYS[] = {
#define VARIABLE(name, reader, says) name,
#include "base/text/variables.def"
#undef VARIABLE
};

enum { VARIABLE_COUNT = sizeof VARIABLE_KEYS / sizeof VARIABLE_KEYS[0] };

void setting_key(const struct setting_program *program, const struct setting *setting,
                 char *out, size_t size)
{
    size_t prefix_len = sizeof COMMAND_PREFIX - 1;

    if (setting->shared)
        snprintf(out, size, "%s", setting->shared);
    else if (strncmp(program->name, COMMAND_PREFIX, prefix_len) == 0)
        snprintf(out, size, "%s-%s", program->name + prefix_len, setting->name);
    else
        snprintf(out, size, "%s", setting->name);
}

void setting_variable(const char *key, char *out, size_t size)
{
    snprintf(out, size, "%s%s", VARIABLE_PREFIX, key);
    for (char *p = out; *p; p++)
        *p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
}

int settings_find_key(const struct settings *s, const char *key)
{
    for (size_t i = 0; i < s->program->count; i++) {
        if (strcmp(s->keys[i], key) == 0)
            return (int)i;
    }
    return -1;
}

bool settings_key_is_known(const char *key)
{
    for (size_t i = 0; i < KNOWN_SETTING_COUNT; i++) {
        if (strcmp(KNOWN_SETTINGS[i].key, key) == 0)
            return true;
    }
    return false;
}

static bool has_flag(const char *program, const char *flag)
{
    for (size_t i = 0; i < KNOWN_SETTING_COUNT; i++) {
        if (strcmp(KNOWN_SETTINGS[i].program, program) == 0 &&
            strcmp(KNOWN_SETTINGS[i].flag, flag) == 0)
            return true;
    }
    return false;
}

bool settings_is_passed_on(const struct settings *s, const char *flag)
{
    return s->program->passes_to && has_flag(s->program->passes_to, flag);
}

/* suggest() takes a function without state. */
static _Thread_local const struct settings *naming;

static const char *own_flag_at(size_t i)
{
    static const char *const fixed[] = {"help", "version", "show-config", "config"};

    if (i < naming->program->count)
        return naming->program->settings[i].name;
    i -= naming->program->count;
    return i < sizeof fixed / sizeof fixed[0] ? fixed[i] : NULL;
}

static const char *own_key_at(size_t i)
{
    return i < naming->program->count ? naming->keys[i] : NULL;
}

static const char *known_key_at(size_t i)
{
    if (i < KNOWN_SETTING_COUNT)
        return KNOWN_SETTINGS[i].key;
    return i < KNOWN_SETTING_COUNT + VARIABLE_COUNT ? VARIABLE_KEYS[i - KNOWN_SETTING_COUNT]
                                                    : NULL;
}

/* The `i`th flag of the program that flags are passed on to; "", which is similar to no
 * word, for a setting of another program. */
static const char *passed_flag_at(size_t i)
{
    if (i >= KNOWN_SETTING_COUNT)
        return NULL;
    return strcmp(KNOWN_SETTINGS[i].program, naming->program->passes_to) == 0
               ? KNOWN_SETTINGS[i].flag
               : "";
}

/* The key of the setting whose flag is `word`, if the command was left out of the key. */
static const char *key_of_flag(const char *word)
{
    for (size_t i = 0; i < naming->program->count; i++) {
        if (strcmp(naming->program->settings[i].name, word) == 0)
            return naming->keys[i];
    }
    for (size_t i = 0; i < KNOWN_SETTING_COUNT; i++) {
        if (strcmp(KNOWN_SETTINGS[i].flag, word) == 0)
            return KNOWN_SETTINGS[i].key;
    }
    return NULL;
}

const char *settings_suggest_key(const struct settings *s, const char *word)
{
    const char *near, *flag;

    naming = s;
    if ((near = key_of_flag(word)) || (near = suggest(word, own_key_at)))
        return near;
    flag = suggest(word, own_flag_at);
    near = flag ? key_of_flag(flag) : NULL;
    return near ? near : suggest(word, known_key_at);
}

const char *settings_suggest_flag(const struct settings *s, const char *word,
                                  bool *passed_on)
{
    const char *near;

    naming = s;
    *passed_on = settings_is_passed_on(s, word);
    if (*passed_on)
        return word;
    near = suggest(word, own_flag_at);
    if (near || !s->program->passes_to)
        return near;
    *passed_on = true;
    return suggest(word, passed_flag_at);
}

/* "SECKILL_LOAD_USERS" -> "load-users"; what is too long for a key is cut. */
static void key_of_variable(const char *variable, size_t len, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = VARIABLE_PREFIX_LEN; i < len && n < size - 1; i++)
        out[n++] = variable[i] == '_' ? '-' : (char)tolower((unsigned char)variable[i]);
    out[n] = '\0';
}

static bool is_among(const char *variable, size_t len, const char *key_at(size_t i))
{
    char name[SETTING_NAME_MAX];

    for (size_t i = 0; key_at(i); i++) {
        setting_variable(key_at(i), name, sizeof name);
        if (strlen(name) == len && memcmp(name, variable, len) == 0)
            return true;
    }
    return false;
}

void settings_check_environment(struct loading *l)
{
    char key[SETTING_NAME_MAX], name[SETTING_NAME_MAX];

    for (char **p = environ; *p; p++) {
        size_t len = strcspn(*p, "=");
        const char *near;

        if (strncmp(*p, VARIABLE_PREFIX, VARIABLE_PREFIX_LEN) != 0 || (*p)[len] == '\0' ||
            (*p)[len + 1] == '\0')
            continue;
        naming = l->s;
        if (is_among(*p, len, own_key_at) || is_among(*p, len, known_key_at))
            continue;
        key_of_variable(*p, len, key, sizeof key);
        near = settings_suggest_key(l->s, key);
        if (near)
            setting_variable(near, name, sizeof name);
        settings_complain(l->s, "unknown environment variable %.*s%s%s%s", (int)len, *p,
                          near ? "; did you mean " : "; `seckill help environment` lists them",
                          near ? name : "", near ? "?" : "");
        l->failed = true;
    }
}
