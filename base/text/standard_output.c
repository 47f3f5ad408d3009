/* SPDX-License-Identifier: MIT */
/* standard_output.c -- finds out why stdout could not be written, if it could not. */
#include "base/text/standard_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* 0: all was written.  stdio remembers that an earlier write failed, but not why; so one more
 * byte asks the kernel again.  The output is incomplete in any case. */
static int reason_of_failure(void)
{
    if (fflush(stdout) != 0)
        return errno;
    if (!ferror(stdout))
        return 0;
    return putchar('\n') == EOF || fflush(stdout) != 0 ? errno : EIO;
}

bool standard_output_tell(const char *program, int reason)
{
    if (reason == 0 || reason == EPIPE)
        return true;
    (void)fprintf(stderr, "%s: cannot write standard output: %s\n", program, strerror(reason));
    return false;
}

bool standard_output_end(const char *program)
{
    return standard_output_tell(program, reason_of_failure());
}
