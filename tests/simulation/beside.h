/* SPDX-License-Identifier: MIT */
/* beside.h -- compares the model of Redis with a real redis-server. */
#ifndef SIMULATION_BESIDE_H
#define SIMULATION_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Send `count` random sequences of commands to the model and to the server on the socket at `path`,
 * whose data is deleted. Returns true if all replies were the same. Ends the program with 69 if the
 * server cannot be reached. */
bool beside_play(const char *path, uint64_t first, uint64_t count);

#endif /* SIMULATION_BESIDE_H */
