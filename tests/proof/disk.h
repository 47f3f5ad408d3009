/* SPDX-License-Identifier: MIT */
/* disk.h -- a disk for the lab's servers that can be filled.
 *
 * If this process may mount, the disk is a tmpfs of its own, which ends with the process.
 *
 * Threads     The main thread of the test.
 */
#ifndef TESTS_PROOF_DISK_H
#define TESTS_PROOF_DISK_H

#include <stdbool.h>

/* Call before the lab is up and before the first thread: the lab's data goes to the disk. Returns
 * false if this process may not mount. */
bool disk_mount(void);
/* Call after the lab is down. There need be no disk. */
void disk_unmount(void);

/* Fill the disk; free the room again. */
void disk_fill(void);
void disk_empty(void);

#endif /* TESTS_PROOF_DISK_H */
