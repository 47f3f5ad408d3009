/* SPDX-License-Identifier: MIT */
/* machine.c -- what a measurement was made on. */
#include "loadtest/kit/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

json_t *machine_json(void)
{
    struct utsname machine = {0};

    if (uname(&machine) != 0)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:i}", "system", machine.sysname, "release",
                     machine.release, "machine", machine.machine, "processors",
                     (int)sysconf(_SC_NPROCESSORS_ONLN));
}
