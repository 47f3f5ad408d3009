/* SPDX-License-Identifier: MIT */
/* wall_clock.c -- loaded before the C library into one server of a lab: its wall clock is
 * ahead of the machine's by what stands in a file.
 *
 * The file named by SECKILL_WALL_CLOCK holds nanoseconds, an int64_t of this machine, and
 * is mapped: a change counts from the next question on.  The monotonic clocks stay what
 * they are, as on a machine whose operator sets the time.
 *
 * (libfaketime would do, but its start asks for the time while jemalloc's start asks for
 * it too, and Debian's Redis then does not come up.)  It does not reach what asks the
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
