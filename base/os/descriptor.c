/* SPDX-License-Identifier: MIT */
/* descriptor.c -- keeps 0, 1 and 2 occupied, and writes without waiting. */
#include "base/os/descriptor.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

_Static_assert(DLOCK_DESCRIPTOR_WHOLE <= PIPE_BUF, "a pipe takes that many bytes in one piece");

void dlock_descriptor_keep_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* open() returns the lowest number that is free, and all lower ones are open. */
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
    }
}

bool dlock_descriptor_write_now(int fd, const void *bytes, size_t size)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    const struct timespec now = {0};

    return ppoll(&room, 1, &now, NULL) == 1 && (room.revents & POLLOUT) != 0 &&
           write(fd, bytes, size) == (ssize_t)size;
}
