/* SPDX-License-Identifier: MIT */
/* intake.c -- the bytes that a client sent, as they came. */
#include "app/intake.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef ssize_t receive(int fd, void *to, size_t size, int flags);

static _Thread_local struct intake *watched;

/* The recv() behind this one: the C library's, or a sanitizer's. */
static receive *next_receive(void)
{
    static _Atomic(receive *) found;
    receive *f = atomic_load_explicit(&found, memory_order_relaxed);

    if (f == NULL) {
        *(void **)&f = dlsym(RTLD_NEXT, "recv");
        atomic_store_explicit(&found, f, memory_order_relaxed);
    }
    return f;
}

static void add(struct intake *in, const char *bytes, size_t count)
{
    if (in->bytes == NULL)
        in->bytes = malloc(in->capacity);
    in->is_broken = in->is_broken || in->bytes == NULL ||
                    count > in->capacity - in->length;
    if (in->is_broken)
        return;
    memcpy(in->bytes + in->length, bytes, count);
    in->length += count;
}

/* Every recv() of this process comes through here, civetweb's as well. */
ssize_t recv(int fd, void *to, size_t size, int flags)
{
    ssize_t count = next_receive()(fd, to, size, flags);

    if (watched != NULL && count > 0)
        add(watched, to, (size_t)count);
    return count;
}

void intake_watch(struct intake *in)
{
    watched = in;
}

void intake_consume(struct intake *in, size_t count)
{
    if (count > in->length)
        count = in->length;
    in->length -= count;
    if (in->length > 0)
        memmove(in->bytes, in->bytes + count, in->length);
}

void intake_end(struct intake *in)
{
    free(in->bytes);
    in->bytes = NULL;
    in->length = 0;
    in->is_broken = false;
}
