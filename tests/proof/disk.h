/* SPDX-License-Identifier: MIT */
/* disk.h -- a disk for the lab's servers that can be filled.
 *
 * If this process may mount, the disk is a tmpfs of its own, which goes with the process.
 *
 * Threads     The test's main one.
 */
#ifndef TESTS_PROOF_DISK_H
#define TESTS_PROOF_DISK_H

#include <stdbool.h>

/* Before the lab is up: the lab's data goes to the disk.  False: this process may not mount.
 * Before the first thread. */
bool disk_mount(void);
/* To be called after the lab is down.  There need be no disk. */
void disk_unmount(void);

/* Leave no room on the disk, or give it back. */
void disk_fill(void);
void disk_empty(void);

#endif /* TESTS_PROOF_DISK_H */
