/* SPDX-License-Identifier: MIT */
/* machine.c -- the machine of a measurement. */
#include "loadtest/kit/machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MODEL_MAX = 128 };

/* The name of the processor's model; "" if the system does not say. */
static void read_model(char out[MODEL_MAX])
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];

    out[0] = '\0';
    while (file && out[0] == '\0' && fgets(line, sizeof line, file)) {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(out, MODEL_MAX, "%s", strchr(line, ':') + 1);
            memmove(out, out + strspn(out, " "), strlen(out + strspn(out, " ")) + 1);
            out[strcspn(out, "\n")] = '\0';
        }
    }
    if (file)
        fclose(file);
}

const char *machine_text(char out[MACHINE_TEXT_MAX])
{
    struct utsname machine = {0};

    (void)uname(&machine);
    snprintf(out, MACHINE_TEXT_MAX, "%s, %s %s, %ld processors", machine.machine,
             machine.sysname, machine.release, sysconf(_SC_NPROCESSORS_ONLN));
    return out;
}

json_t *machine_json(void)
{
    struct utsname machine = {0};
    struct sysinfo memory = {0};
    char model[MODEL_MAX];

    if (uname(&machine) != 0)
        return json_null();
    read_model(model);
    (void)sysinfo(&memory);
    return json_pack("{s:s, s:s, s:s, s:i, s:s?, s:I}", "system", machine.sysname, "release",
                     machine.release, "machine", machine.machine, "processors",
                     (int)sysconf(_SC_NPROCESSORS_ONLN), "processor", *model ? model : NULL,
                     "memory_mib", (json_int_t)(memory.totalram * memory.mem_unit >> 20));
}
