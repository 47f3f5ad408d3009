/* SPDX-License-Identifier: MIT */
/* os_clock.c -- the clocks, the chance, the events and the forks of a simulated process, in
 * place of clock.c, random.c, event.c and fork.c of base/os/.
 *
 * Forks are counted per site. An event is a number, and no descriptor of the kernel. */
#include <string.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/fiber.h"
#include "base/os/fork.h"
#include "base/os/random.h"
#include "tests/simulation/os.h"

enum { EVENTS_MAX = 1024 };

struct site *os_clock_of;
static struct site nowhere; /* the site before a world begins */

/* ---- clock.h ---- */

static struct site *site_here(void)
{
    if (os_clock_of != NULL)
        return os_clock_of;
    return task_here != NULL ? task_here->site : &nowhere;
}

int64_t dlock_clock_ns(void)
{
    if (world.account == NULL)
        return 0;
    task_may_stall();
    return site_clock_ns(site_here());
}

int64_t dlock_clock_wall_ms(void)
{
    return world.account == NULL ? 0 : site_wall_us(site_here()) / 1000;
}

void dlock_clock_sleep_until(int64_t at_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();
    struct site *site = site_here();

    while (fiber != NULL && dlock_clock_ns() < at_ns &&
           !(fiber->is_hurried && fiber->may_hurry))
        (void)fiber->host->sleep(fiber, at_ns);
    while (fiber == NULL && task_here != NULL && site_clock_ns(site) < at_ns)
        (void)task_sleep(site_world_ns(site, at_ns));
}

/* ---- random.h ---- */

void dlock_random_bytes(void *out, size_t byte_count)
{
    char *at = out;

    while (byte_count > 0) {
        uint64_t drawn = chance_draw();
        size_t len = byte_count < sizeof(drawn) ? byte_count : sizeof(drawn);

        memcpy(at, &drawn, len);
        at += len;
        byte_count -= len;
    }
}

void dlock_random_uuid(char out[DLOCK_UUID_LEN + 1])
{
    static const char form[] = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";

    for (int i = 0; i < DLOCK_UUID_LEN; i++)
        out[i] = form[i] == 'x' ? "0123456789abcdef"[chance_draw() >> 60] : form[i];
    out[DLOCK_UUID_LEN] = '\0';
}

uint32_t dlock_random_below(uint32_t bound)
{
    return (uint32_t)((chance_draw() >> 32) * bound >> 32);
}

/* ---- fork.h ---- */

uint32_t dlock_fork_process_id(void)
{
    return task_here != NULL ? (uint32_t)task_here->site->number + 1 : 1;
}

unsigned dlock_fork_generation(void)
{
    return task_here != NULL ? task_here->site->fork_count + 1 : 1;
}

void dlock_fork_watch(void)
{
}

/* ---- event.h ---- */

static struct raised {
    uint64_t count;
    struct task *watcher;
} events[EVENTS_MAX];
static int event_count;

static struct raised *event_of(int event_fd)
{
    int at = event_fd - OS_FIRST_EVENT;

    return at >= 0 && at < event_count ? &events[at] : NULL;
}

int dlock_event_open(void)
{
    if (event_count == EVENTS_MAX)
        return -1;
    events[event_count] = (struct raised){0};
    return OS_FIRST_EVENT + event_count++;
}

void dlock_event_close(int event_fd)
{
    (void)event_fd;
}

void dlock_event_raise(int event_fd, uint64_t count)
{
    struct raised *event = event_of(event_fd);

    if (event == NULL)
        return;
    event->count += count;
    task_wake(event->watcher);
    os_descriptor_changed(event_fd);
}

void dlock_event_clear(int event_fd)
{
    if (event_of(event_fd) != NULL)
        event_of(event_fd)->count = 0;
}

bool os_event_is_raised(int event_fd)
{
    return event_of(event_fd) != NULL && event_of(event_fd)->count > 0;
}

uint64_t os_event_count(int event_fd)
{
    return event_of(event_fd) != NULL ? event_of(event_fd)->count : 0;
}

void os_event_watch(int event_fd, struct task *task)
{
    if (event_of(event_fd) != NULL)
        event_of(event_fd)->watcher = task;
}

int dlock_poll_until(struct pollfd *polled, size_t count, int64_t until_ns)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    if (fiber != NULL)
        return fiber->host->poll(fiber, polled, count, until_ns);
    polled[0].revents = 0;
    world_condemn(NOT_KNOWN, "the simulation knows no poll of descriptors by a thread");
    return 0;
}

short dlock_poll_one(int fd, short events_wanted, int64_t until_ns)
{
    struct pollfd polled = {.fd = fd, .events = events_wanted};

    (void)dlock_poll_until(&polled, 1, until_ns);
    return polled.revents;
}

void dlock_poll_forget(int fd)
{
    if (dlock_fiber_here() != NULL)
        dlock_fiber_here()->host->forget(dlock_fiber_here(), fd);
}
