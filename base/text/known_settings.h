/* SPDX-License-Identifier: MIT */
/* known_settings.h -- the settings of all programs of the project, for every program.
 *
 * The list is made during the build, from the tables of the programs (tools/list_settings.c):
 * a program can tell a name that is misspelt from one that belongs to another program. */
#ifndef BASE_KNOWN_SETTINGS_H
#define BASE_KNOWN_SETTINGS_H

#include <stddef.h>

struct known_setting {
    const char *key;     /* its key in a file: "load-users", "lock-wait"          */
    const char *program; /* "seckill load"                                        */
    const char *flag;    /* "users"                                               */
};

extern const struct known_setting KNOWN_SETTINGS[];
extern const size_t KNOWN_SETTING_COUNT;

#endif /* BASE_KNOWN_SETTINGS_H */
