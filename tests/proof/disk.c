/* SPDX-License-Identifier: MIT */
/* disk.c -- a tmpfs, and a file that takes all its room. */
#include "tests/proof/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/service/rig.h"

/* Room for a new cluster, some segments of its WAL, and the orders of a round. */
#define DISK_OPTIONS "size=320m,mode=1777"

static char path[] = "/tmp/seckill-proof-disk-XXXXXX";
static char ballast[sizeof(path) + 16];
static bool is_mounted, has_namespace;
static char *data_before; /* SECKILL_LAB_DATA before the disk was mounted; NULL: it was unset */

/* Later laboratories keep their data where earlier ones did. */
static void restore_data(void)
{
    if (data_before != NULL)
        (void)setenv("SECKILL_LAB_DATA", data_before, 1);
    else
        (void)unsetenv("SECKILL_LAB_DATA");
    free(data_before);
    data_before = NULL;
}

bool disk_mount(void)
{
    const char *data = getenv("SECKILL_LAB_DATA");

    /* The mount is visible to no other program, and ends with the last process. */
    has_namespace = has_namespace ||
                    (unshare(CLONE_NEWNS) == 0 &&
                     mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                     mkdtemp(path) != NULL);
    if (!has_namespace || (mkdir(path, 0700) != 0 && errno != EEXIST) ||
        mount("none", path, "tmpfs", 0, DISK_OPTIONS) != 0)
        return false;
    is_mounted = true;
    (void)snprintf(ballast, sizeof(ballast), "%s/ballast", path);
    data_before = data != NULL ? strdup(data) : NULL;
    return setenv("SECKILL_LAB_DATA", path, 1) == 0;
}

void disk_unmount(void)
{
    if (is_mounted) {
        (void)umount2(path, MNT_DETACH);
        restore_data();
    }
    (void)rmdir(path);
    is_mounted = false;
}

/* First write blocks of a megabyte, and then fill the rest. */
void disk_fill(void)
{
    int fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    off_t bytes = 0;

    assert_true(fd >= 0);
    for (off_t step = 1 << 20; step >= 4096; step /= 16)
        while (fallocate(fd, 0, bytes, step) == 0)
            bytes += step;
    (void)close(fd);
    assert_true(bytes > 0);
}

void disk_empty(void)
{
    (void)unlink(ballast);
}
