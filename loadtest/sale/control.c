/* SPDX-License-Identifier: MIT */
/* control.c -- the page that the laboratory shares with wrk's threads. */
#include "loadtest/sale/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Other processes and other threads write the page. */
static int64_t read_number(const volatile int64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static void write_number(volatile int64_t *at, int64_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

bool control_open(struct control *c, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *page = MAP_FAILED;
    int failure;

    c->page = NULL;
    if (fd < 0)
        return false;
    /* With a hole in the file, a full disk would end the program by SIGBUS at its first write. */
    failure = posix_fallocate(fd, 0, CONTROL_SIZE);
    if (failure == 0) {
        page = mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        failure = errno;
    }
    close(fd);
    if (page == MAP_FAILED) {
        errno = failure;
        return false;
    }
    c->page = page;
    c->page[CONTROL_ERA] = 1; /* in which nobody has counted anything yet */
    return true;
}

void control_close(struct control *c)
{
    if (c->page)
        munmap((void *)c->page, CONTROL_SIZE);
    c->page = NULL;
}

void control_stop(struct control *c)
{
    if (c->page)
        c->page[CONTROL_STOP] = 1;
}

void control_aim(struct control *c, int64_t user)
{
    if (c->page)
        c->page[CONTROL_TARGET] = user;
}

void control_begin_era(struct control *c)
{
    if (c->page)
        c->page[CONTROL_ERA]++;
}

int64_t control_tried(const struct control *c)
{
    int64_t sum = 0;

    for (int i = 1; c->page && i <= CONTROL_THREADS_MAX; i++)
        if (control_of(c, i, CONTROL_TRIED_ERA) == c->page[CONTROL_ERA])
            sum += control_of(c, i, CONTROL_TRIED);
    return sum;
}

int64_t control_of(const struct control *c, int thread, int number)
{
    return c->page ? read_number(&c->page[CONTROL_THREAD * thread + number]) : 0;
}

void control_count(struct control *c, int thread, int number)
{
    volatile int64_t *at = &c->page[CONTROL_THREAD * thread + number];

    write_number(at, read_number(at) + 1);
}

void control_set_latency(struct control *c, int thread, const int64_t buckets[CONTROL_BUCKETS])
{
    for (int k = 0; k < CONTROL_BUCKETS; k++)
        write_number(&c->page[CONTROL_LATENCY + (thread - 1) * CONTROL_BUCKETS + k], buckets[k]);
}

int64_t control_sum(const struct control *c, int number)
{
    int64_t sum = 0;

    for (int i = 1; c->page && i <= CONTROL_THREADS_MAX; i++)
        sum += control_of(c, i, number);
    return sum;
}

void control_add_latency(const struct control *c, int64_t buckets[CONTROL_BUCKETS])
{
    for (int i = 0; c->page && i < CONTROL_THREADS_MAX; i++)
        for (int k = 0; k < CONTROL_BUCKETS; k++)
            buckets[k] += read_number(&c->page[CONTROL_LATENCY + i * CONTROL_BUCKETS + k]);
}
