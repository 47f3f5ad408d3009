/* SPDX-License-Identifier: MIT */
/* machine.h -- the machine of a measurement. */
#ifndef LOADTEST_KIT_MACHINE_H
#define LOADTEST_KIT_MACHINE_H

#include <jansson.h>

/* system, release, machine, processors, processor (its model; null: not known), memory_mib;
 * the caller owns it. */
json_t *machine_json(void);

enum { MACHINE_TEXT_MAX = 256 };

/* "x86_64, Linux 6.1.0-18-amd64, 2 processors"; answers `out`. */
const char *machine_text(char out[MACHINE_TEXT_MAX]);

#endif /* LOADTEST_KIT_MACHINE_H */
