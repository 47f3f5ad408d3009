/* SPDX-License-Identifier: MIT */
/* received.c -- the accept(), poll() and recv() of this program, which record what
 * civetweb receives. */
#include "base/http/received.h"

#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/text/log.h"

enum { PAUSE_MS = 10 }; /* the pause after a failed accept() */

static _Thread_local struct received *watched;
static _Thread_local struct connections *accepted_into;
static _Thread_local int accepted_for;

/* Find the next function of that name: the C library's, or a sanitizer's. */
static void *behind(_Atomic(void *) *found, const char *name)
{
    void *f = atomic_load_explicit(found, memory_order_relaxed);

    if (f == NULL) {
        f = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(found, f, memory_order_relaxed);
    }
    return f;
}

static void add(struct received *in, const char *bytes, size_t count)
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

/* Every recv() of this process calls this function, also civetweb's. */
ssize_t recv(int fd, void *to, size_t size, int flags)
{
    static _Atomic(void *) found;
    ssize_t (*next)(int, void *, size_t, int) = NULL;
    ssize_t count;

    *(void **)&next = behind(&found, "recv");
    count = next(fd, to, size, flags);
    if (watched != NULL && count > 0) {
        if (watched->length == 0)
            (void)connection_enter(watched->connection, CONNECTION_HEAD);
        add(watched, to, (size_t)count);
    }
    return count;
}

/* civetweb calls poll() before it reads from a connection for the first time. */
int poll(struct pollfd *fds, nfds_t count, int wait_ms)
{
    static _Atomic(void *) found;
    int (*next)(struct pollfd *, nfds_t, int) = NULL;

    *(void **)&next = behind(&found, "poll");
    if (watched != NULL && watched->connection == NULL && count == 1)
        watched->connection = connections_find(watched->connections, fds[0].fd);
    return next(fds, count, wait_ms);
}

/* Log a failed accept(): civetweb tries again at once, and logs nothing. */
static void say_failure(int error)
{
    if (error == EMFILE || error == ENFILE)
        LIMITED_WARN("out of file descriptors: a client cannot be accepted (%s); raise "
                     "`ulimit -n`, or lower --connections",
                     strerror(error));
    else if (error == ENOBUFS || error == ENOMEM)
        LIMITED_WARN("a client cannot be accepted: %s", strerror(error));
    else
        return;
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), PAUSE_MS));
}

int accept(int listener, __SOCKADDR_ARG from, socklen_t *size)
{
    static _Atomic(void *) found;
    int (*next)(int, struct sockaddr *, socklen_t *) = NULL;
    struct sockaddr *address = NULL;
    int fd;

    address = from.__sockaddr__;
    *(void **)&next = behind(&found, "accept");
    fd = next(listener, address, size);
    if (accepted_into == NULL)
        return fd;
    if (fd < 0) {
        int error = errno;

        say_failure(error);
        errno = error;
        return fd;
    }
    if (connections_add(accepted_into, accepted_for, fd,
                        ((const struct sockaddr_in *)(void *)address)->sin_addr.s_addr))
        return fd;
    say_failure(EMFILE);
    (void)close(fd);
    errno = EMFILE;
    return -1;
}

void received_accept(struct connections *connections, int listener)
{
    accepted_into = connections;
    accepted_for = listener;
}

void received_watch(struct received *in)
{
    watched = in;
}

void received_consume(struct received *in, size_t count)
{
    if (count > in->length)
        count = in->length;
    in->length -= count;
    if (in->length > 0)
        memmove(in->bytes, in->bytes + count, in->length);
}

void received_end(struct received *in)
{
    free(in->bytes);
    in->bytes = NULL;
    in->length = 0;
    in->is_broken = false;
    connections_remove(in->connections, in->connection);
    in->connection = NULL;
}
