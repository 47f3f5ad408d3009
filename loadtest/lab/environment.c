/* SPDX-License-Identifier: MIT */
/* environment.c -- the environment that the laboratory gives to what it starts. */
#include "loadtest/lab/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is that variable one of the extra ones? */
static bool is_given(const char *name, const char *const *extra)
{
    size_t length = strlen(name);

    for (; extra && *extra; extra++)
        if (strncmp(*extra, name, length) == 0 && (*extra)[length] == '=')
            return true;
    return false;
}

char **environment_make(const struct lab *lab, const char *const *extra)
{
    struct lab_variable variables[LAB_ENVIRONMENT_MAX];
    size_t labs = lab_environment(lab, variables);
    size_t ours = 0, extras = 0, n = 0;
    char **made;

    while (environ[ours])
        ours++;
    while (extra && extra[extras])
        extras++;
    made = calloc(ours + labs + extras + 1, sizeof *made);
    if (!made)
        abort();
    for (size_t i = 0; i < ours; i++) {
        if (strncmp(environ[i], "SECKILL_", 8) != 0)
            made[n++] = strdup(environ[i]);
    }
    for (size_t i = 0; i < labs; i++) {
        if (is_given(variables[i].name, extra))
            continue;
        if (asprintf(&made[n++], "%s=%s", variables[i].name, variables[i].value) < 0)
            abort();
    }
    for (size_t i = 0; i < extras; i++)
        made[n++] = strdup(extra[i]);
    return made;
}

void environment_free(char **environment)
{
    for (char **p = environment; p && *p; p++)
        free(*p);
    free(environment);
}
