/* SPDX-License-Identifier: MIT */
/* test_setting_names.c -- the names of settings are unique over all programs. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config.h"
#include "base/text/known_settings.h"
#include "loadtest/command/commands.h"
#include "tests/registered.h"

static const struct setting_program *const PROGRAMS[] = {
    &config_program,
#define X(id, name, help) &command_##id##_program,
    COMMANDS(X)
#undef X
};

enum { PROGRAM_COUNT = sizeof PROGRAMS / sizeof PROGRAMS[0] };

/* The keys that several programs have, with one meaning. Any other key may exist in one program
 * only. */
static const char *const SHARED[] = {
    "color",    "database-url", "lab-database-url", "lab-dir",        "lock",   "no-pager",
    "out",      "redis-url",    "redlock-urls",     "token-key-file", "tokens", "zookeeper-url",
    "etcd-url", "stream-name",
};

static bool is_shared(const char *key)
{
    for (size_t i = 0; i < sizeof SHARED / sizeof SHARED[0]; i++) {
        if (strcmp(SHARED[i], key) == 0)
            return true;
    }
    return false;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_same_choices(const struct setting *a, const struct setting *b)
{
    if (!a->choices || !b->choices)
        return a->choices == b->choices;
    for (size_t i = 0;; i++) {
        if (!is_same_text(a->choices(i), b->choices(i)))
            return false;
        if (!a->choices(i))
            return true;
    }
}

/* Both programs must accept the same values for the setting. */
static void compare(const struct setting_program *a, const struct setting *one,
                    const struct setting_program *b, const struct setting *other)
{
    char key[SETTING_NAME_MAX], other_key[SETTING_NAME_MAX];

    setting_key(a, one, key, sizeof key);
    setting_key(b, other, other_key, sizeof other_key);
    if (strcmp(key, other_key) != 0)
        return;
    if (a == b)
        fail_msg("%s has the key %s twice", a->name, key);
    if (!is_shared(key))
        fail_msg("%s is a key of %s and of %s, and not among those that may be shared", key,
                 a->name, b->name);
    if (one->type != other->type || one->min != other->min || one->max != other->max ||
        !is_same_text(one->meta, other->meta) || !has_same_choices(one, other))
        fail_msg("%s does not take the same values in %s and in %s", key, a->name, b->name);
}

TEST(one_name_means_one_setting_in_every_program)
{
    for (size_t a = 0; a < PROGRAM_COUNT; a++) {
        for (size_t b = a; b < PROGRAM_COUNT; b++) {
            for (size_t i = 0; i < PROGRAMS[a]->count; i++) {
                for (size_t k = a == b ? i + 1 : 0; k < PROGRAMS[b]->count; k++)
                    compare(PROGRAMS[a], &PROGRAMS[a]->settings[i], PROGRAMS[b],
                            &PROGRAMS[b]->settings[k]);
            }
        }
    }
}

static bool is_variable(const char *key)
{
    static const char *const KEYS[] = {
#define VARIABLE(name, reader, says) name,
#include "base/text/variables.def"
#undef VARIABLE
    };
    char variable[SETTING_NAME_MAX], of_list[SETTING_NAME_MAX];

    setting_variable(key, variable, sizeof variable);
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        setting_variable(KEYS[i], of_list, sizeof of_list);
        if (strcmp(variable, of_list) == 0)
            return true;
    }
    return false;
}

TEST(no_setting_has_the_name_of_another_variable)
{
    char key[SETTING_NAME_MAX];

    for (size_t a = 0; a < PROGRAM_COUNT; a++) {
        for (size_t i = 0; i < PROGRAMS[a]->count; i++) {
            setting_key(PROGRAMS[a], &PROGRAMS[a]->settings[i], key, sizeof key);
            if (is_variable(key))
                fail_msg("%s of %s is in base/text/variables.def too", key, PROGRAMS[a]->name);
        }
    }
}

static void is_known_next(size_t *at, const char *key, const char *program, const char *flag)
{
    assert_true(*at < KNOWN_SETTING_COUNT);
    assert_string_equal(KNOWN_SETTINGS[*at].key, key);
    assert_string_equal(KNOWN_SETTINGS[*at].program, program);
    assert_string_equal(KNOWN_SETTINGS[*at].flag, flag);
    ++*at;
}

TEST(the_list_of_known_settings_is_that_of_the_programs)
{
    char key[SETTING_NAME_MAX];
    size_t at = 0;

    for (size_t a = 0; a < PROGRAM_COUNT; a++) {
        for (size_t i = 0; i < PROGRAMS[a]->count; i++) {
            const struct setting *setting = &PROGRAMS[a]->settings[i];

            setting_key(PROGRAMS[a], setting, key, sizeof key);
            is_known_next(&at, key, PROGRAMS[a]->name, setting->name);
        }
    }
    assert_int_equal(at, KNOWN_SETTING_COUNT);
}

static bool is_known(const char *variable)
{
    char name[SETTING_NAME_MAX];

    for (size_t i = 0; i < KNOWN_SETTING_COUNT; i++) {
        setting_variable(KNOWN_SETTINGS[i].key, name, sizeof name);
        if (strcmp(name, variable) == 0)
            return true;
    }
    return is_variable(variable + strlen("SECKILL_"));
}

/* Every SECKILL_... in the text must be the name of a variable. */
static size_t check_script(const char *path)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    FILE *file = fopen(path, "r");
    char line[1024], name[SETTING_NAME_MAX];
    size_t count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        for (const char *p = line; (p = strstr(p, "SECKILL_")); count++) {
            size_t len = strspn(p, letters);

            snprintf(name, sizeof name, "%.*s", (int)len, p);
            if (!is_known(name))
                fail_msg("%s reads %s, which base/text/variables.def does not list", path, name);
            p += len;
        }
    }
    fclose(file);
    return count;
}

TEST(every_variable_of_the_wrk_scripts_is_known)
{
    DIR *dir = opendir("loadtest/wrk");
    struct dirent *entry;
    char path[300];
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        if (!strstr(entry->d_name, ".lua"))
            continue;
        snprintf(path, sizeof path, "loadtest/wrk/%s", entry->d_name);
        count += check_script(path);
    }
    closedir(dir);
    assert_true(count > 10);
}
