/* SPDX-License-Identifier: MIT */
/* listener.h -- a port of the loopback, and a thread for each client. */
#ifndef LIAR_LISTENER_H
#define LIAR_LISTENER_H

#include <pthread.h>
#include <stdatomic.h>

struct listener {
    int fd;
    void (*serve)(int client); /* closes it by script_part() */
    pthread_t thread;
    atomic_int serving; /* clients whose thread has not ended */
};

/* Listen, and call `serve` in a thread of its own for each client, which script_meet() has
 * met.  Answers the port, -1: failed.  The listener must last until listener_stop(). */
int listener_start(struct listener *listener, void (*serve)(int client));

/* Take in no client any more, hang up on all, and wait until their threads have ended; for ten
 * seconds at most. */
void listener_stop(struct listener *listener);

/* A connection to a port of the loopback; -1: none. */
int listener_connect(int port);
void listener_hang_up(int fd);

#endif /* LIAR_LISTENER_H */
