/* SPDX-License-Identifier: MIT */
/* telling.h -- prints the trace of a world as sentences. */
#ifndef SIMULATION_TELLING_H
#define SIMULATION_TELLING_H

#include <stddef.h>
#include <stdint.h>

/* Print a sentence for a line of the trace at this instant. */
void telling_numbers(const char *what, int64_t a, int64_t b);
void telling_bytes(const char *what, int64_t a, const char *bytes, size_t len);

#endif /* SIMULATION_TELLING_H */
