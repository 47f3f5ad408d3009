/* SPDX-License-Identifier: MIT */
/* wall_clock.c -- a library that is loaded before the C library into one server of a lab.  The wall
 * clock of the server is then ahead of the machine's clock by the number in a file.
 *
 * The file that SECKILL_WALL_CLOCK names has nanoseconds, an int64_t of this machine.  The file is
 * mapped, so a change takes effect at the next reading of the clock.  The monotonic clocks are not
 * changed, as on a machine whose operator sets the time.
 *
 * libfaketime cannot be used: its start reads the time while jemalloc's start reads it too, and
 * Debian's Redis then does not start.  This library does not change the time for code that asks the
 * kernel without the C library. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

static _Atomic int64_t *ahead_ns; /* NULL: no file, the machine's time */

__attribute__((constructor)) static void find_file(void)
{
    const char *path = getenv("SECKILL_WALL_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd >= 0 ? mmap(NULL, sizeof *ahead_ns, PROT_READ, MAP_SHARED, fd, 0)
                        : MAP_FAILED;

    if (fd >= 0)
        close(fd);
    if (map != MAP_FAILED)
        ahead_ns = map;
}

static int64_t wall_ns(void)
{
    struct timespec now = {0};

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec +
           (ahead_ns ? atomic_load(ahead_ns) : 0);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int64_t now_ns;

    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, clock, out);
    now_ns = wall_ns();
    out->tv_sec = now_ns / NS_PER_S;
    out->tv_nsec = now_ns % NS_PER_S;
    return 0;
}

/* The zone has been unused for decades. */
int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    int64_t now_ns = wall_ns();

    (void)zone;
    out->tv_sec = now_ns / NS_PER_S;
    out->tv_usec = now_ns % NS_PER_S / 1000;
    return 0;
}

time_t time(time_t *out)
{
    time_t now = wall_ns() / NS_PER_S;

    if (out)
        *out = now;
    return now;
}
