/* SPDX-License-Identifier: MIT */
/* proxy.h -- a TCP proxy that injects faults into connections.
 *
 * A thread of this process listens on loopback, passes every connection on to the
 * target, and does what the armed faults say (their language: PROXY_GRAMMAR).  The thread
 * holds at most 128 KiB a direction: a slow reader slows the writer, as without a proxy.
 *
 * Threads     Any thread may call anything but proxy_open() and proxy_close().
 * Time        Instants are CLOCK_BOOTTIME nanoseconds, as in the recorder's files.
 */
#ifndef LOADTEST_PROXY_PROXY_H
#define LOADTEST_PROXY_PROXY_H

#include "loadtest/proxy/events.h"

struct proxy; /* opaque */

/* Listen, and start the thread.  False: why (PROXY_WHY_MAX bytes) says the reason.  The
 * target need not be up yet: a client is cut while it is not. */
bool proxy_open(struct proxy **out, const struct proxy_options *options, char *why);

/* Cut all open connections, and end the thread.  NULL is fine. */
void proxy_close(struct proxy *p);

/* The port on 127.0.0.1 on which the proxy listens. */
int proxy_port(const struct proxy *p);

/* Arm one fault, which happens as soon as its condition is met.  Returns its number, or -1
 * with the reason in why (PROXY_WHY_MAX bytes): the text cannot be read, the connection has
 * ended or is past the point, a release finds no held bytes, or there are too many faults. */
int proxy_arm(struct proxy *p, const char *fault, char *why);

/* Arm every fault of a script, in order; answers how many.  -1, with the reason in why,
 * if one was refused (those before it are armed), or if there is none. */
int proxy_arm_script(struct proxy *p, const char *script, char *why);

/* Disarm the fault: it does not happen again.  Its effects stay, but held bytes are sent on. */
void proxy_disarm(struct proxy *p, int fault);
/* The same, and the number of the fault is free again if no later fault is armed: a proxy can be
 * given PROXY_FAULTS_MAX faults that are not forgotten. */
void proxy_forget(struct proxy *p, int fault);

/* Wait until the fault has happened: its bytes arrived, and were held, dropped or delayed.  A
 * cut has happened when it is decided; the proxy closes the connection when the bytes before
 * the cut have been delivered, within a second.  False: not within timeout_ms. */
bool proxy_wait(struct proxy *p, int fault, int64_t timeout_ms);

/* Read the state of a fault.  False: there is no such fault. */
bool proxy_look(struct proxy *p, int fault, struct proxy_strike *out);

void proxy_read_stats(struct proxy *p, struct proxy_stats *out);

#endif /* LOADTEST_PROXY_PROXY_H */
