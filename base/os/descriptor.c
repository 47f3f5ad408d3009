/* SPDX-License-Identifier: MIT */
/* descriptor.c -- keeps 0, 1 and 2 occupied, writes without waiting, and aborts connections. */
#include "base/os/descriptor.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
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

/* Connecting a TCP socket to no address resets its connection.  Kernels 6.4 and 6.5 refuse this
 * while another thread sleeps in recv(): then the close resets it. */
void dlock_descriptor_abort(int fd)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    const struct sockaddr nobody = {.sa_family = AF_UNSPEC};

    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    (void)connect(fd, &nobody, sizeof(nobody));
    (void)shutdown(fd, SHUT_RDWR);
}
