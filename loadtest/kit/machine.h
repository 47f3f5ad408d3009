/* SPDX-License-Identifier: MIT */
/* machine.h -- the machine of a measurement. */
#ifndef LOADTEST_KIT_MACHINE_H
#define LOADTEST_KIT_MACHINE_H

#include <jansson.h>

/* system, release, machine, processors, processor (its model; null: not known), memory_mib;
 * the caller owns it. */
json_t *machine_json(void);

#endif /* LOADTEST_KIT_MACHINE_H */
