/* SPDX-License-Identifier: MIT */
/* list_settings.c -- during the build, print the C file behind base/text/known_settings.h: every
 * setting of every program. */
#include <stdio.h>

#include "app/config.h"
#include "base/text/known_settings.h"
#include "loadtest/command/commands.h"

/* base/settings*.c want the list that is only being made. */
const struct known_setting KNOWN_SETTINGS[1] = {{"", "", ""}};
const size_t KNOWN_SETTING_COUNT = 0;

static const struct setting_program *const programs[] = {
    &config_program,
#define X(id, name, help) &command_##id##_program,
    COMMANDS(X)
#undef X
};

int main(void)
{
    char key[SETTING_NAME_MAX];
    size_t count = 0;

    printf("/* Made by tools/list_settings.c. */\n"
           "#include \"base/text/known_settings.h\"\n\n"
           "const struct known_setting KNOWN_SETTINGS[] = {\n");
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        for (size_t k = 0; k < programs[i]->count; k++, count++) {
            const struct setting *setting = &programs[i]->settings[k];

            setting_key(programs[i], setting, key, sizeof key);
            printf("    {\"%s\", \"%s\", \"%s\"},\n", key, programs[i]->name, setting->name);
        }
    }
    printf("};\nconst size_t KNOWN_SETTING_COUNT = %zu;\n", count);
    return ferror(stdout) ? 1 : 0;
}
