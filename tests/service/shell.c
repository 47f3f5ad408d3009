/* SPDX-License-Identifier: MIT */
/* shell.c -- runs programs of the machine for tests. */
#include "tests/service/shell.h"

#include <stdio.h>
#include <string.h>

#include "tests/service/rig.h"

const char *shell(const char *command)
{
    static char said[8192];
    FILE *out = popen(command, "re");
    size_t n;

    assert_non_null(out);
    n = fread(said, 1, sizeof(said) - 1, out);
    said[n] = '\0';
    if (pclose(out) != 0)
        fail_msg("%s: %s", command, said);
    return said;
}
