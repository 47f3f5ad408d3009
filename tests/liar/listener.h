/* SPDX-License-Identifier: MIT */
/* listener.h -- listens on a port of the loopback, with a thread for each client. */
#ifndef LIAR_LISTENER_H
#define LIAR_LISTENER_H

#include <pthread.h>
#include <stdatomic.h>

struct listener {
    int fd;
    void (*serve)(int client); /* has to close the client by script_part() */
    pthread_t thread;
    atomic_int serving; /* clients whose thread has not ended */
};

/* Listen, and call `serve` in a thread of its own for each client, after script_meet(). Returns the
 * port, -1 after a failure. The listener must exist until listener_stop(). */
int listener_start(struct listener *listener, void (*serve)(int client));

/* Accept no more clients, close all connections, and wait until their threads have ended, for ten
 * seconds at most. */
void listener_stop(struct listener *listener);

/* Connect to a port of the loopback; -1 after a failure. */
int listener_connect(int port);
void listener_hang_up(int fd);

#endif /* LIAR_LISTENER_H */
