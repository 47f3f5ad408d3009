/* SPDX-License-Identifier: MIT */
/* scratch.h -- a directory for the files of a test's servers.
 *
 * Redis Cluster, Sentinel, etcd and ZooKeeper wait for their disk (fsync) when their state
 * changes.  On a disk that others write to, a node then stands still for seconds, and another
 * takes its place.  So tests/run names a directory in memory in SECKILL_LAB_DATA, and the
 * directories are made there. */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH_SIZE = 48, SCRATCH_ROOT_MAX = 16 };

/* Make the directory, with `kind` in its name, and write its path into `dir`.  A longer root would
 * not fit into the addresses of Unix sockets, so /tmp is used instead. */
static inline void scratch_make(char dir[SCRATCH_SIZE], const char *kind)
{
    const char *root = getenv("SECKILL_LAB_DATA");

    if (root == NULL || root[0] == '\0' || strlen(root) > SCRATCH_ROOT_MAX)
        root = "/tmp";
    snprintf(dir, SCRATCH_SIZE, "%s/seckill-%.12s-XXXXXX", root, kind);
    assert_non_null(mkdtemp(dir));
}

static inline void scratch_remove(const char *dir)
{
    char command[SCRATCH_SIZE + 16];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    assert_int_equal(0, system(command));
}

#endif /* TESTS_UNIT_SCRATCH_H */
