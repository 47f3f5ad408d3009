/* SPDX-License-Identifier: MIT */
/* known_bugs.c -- bugs of other lock libraries, and the law that shows that this
 * library does not have each. */
#include "tests/conformance/known_bugs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct known_bug {
    const char *name;
    const char *law;
} known_bugs[] = {
#define BUG(name, law) {name, law},
#include "tests/conformance/known_bugs.def"
#undef BUG
};

void known_bugs_append(char *end, size_t size, const char *law)
{
    size_t law_len = strlen(law);
    size_t len = 0;

    for (size_t i = 0; i < sizeof(known_bugs) / sizeof(known_bugs[0]); i++) {
        if (strlen(known_bugs[i].law) != law_len ||
            strncmp(known_bugs[i].law, law, law_len) != 0)
            continue;
        if (len < size)
            len += (size_t)snprintf(end + len, size - len, "%s%s",
                                    len == 0 ? " (" : "; ", known_bugs[i].name);
    }
    if (len > 0 && len < size)
        snprintf(end + len, size - len, ")");
}

void known_bugs_check(bool (*is_law)(const char *name))
{
    static const char absent[] = "(not claimed) ";

    for (size_t i = 0; i < sizeof(known_bugs) / sizeof(known_bugs[0]); i++) {
        const char *law = known_bugs[i].law;

        if (strncmp(law, absent, sizeof(absent) - 1) == 0)
            law += sizeof(absent) - 1;
        if (is_law(law))
            continue;
        printf("Bail out! known_bugs.def names no law: %s\n", law);
        exit(70);
    }
}
