/* SPDX-License-Identifier: MIT */
/* clock.c -- is loaded before the C library into a redis-server. The server's wall clock then has
 * the time of a file, and stands still between two changes of that file.
 *
 * SIMULATE_CLOCK names the file: one number of 64 bits, microseconds since 1970. Other clocks than
 * the wall clock go on, so that the timers of the server do. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const _Atomic int64_t *clock_us;

static void open_clock(void)
{
    const char *path = getenv("SIMULATE_CLOCK");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *memory = fd >= 0 ? mmap(NULL, sizeof(*clock_us), PROT_READ, MAP_SHARED, fd, 0)
                           : MAP_FAILED;

    if (memory == MAP_FAILED)
        _exit(69);
    (void)close(fd);
    clock_us = memory;
}

static int64_t now_us(void)
{
    if (clock_us == NULL)
        open_clock();
    return atomic_load(clock_us);
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    int64_t us;

    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, id, out);
    us = now_us();
    *out = (struct timespec){us / 1000000, us % 1000000 * 1000};
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    int64_t us = now_us();

    (void)zone;
    *out = (struct timeval){us / 1000000, us % 1000000};
    return 0;
}

time_t time(time_t *out)
{
    time_t now = (time_t)(now_us() / 1000000);

    if (out != NULL)
        *out = now;
    return now;
}
