/* SPDX-License-Identifier: MIT */
/* port.h -- free ports of 127.0.0.1 for servers that are about to start. */
#ifndef LOADTEST_KIT_PORT_H
#define LOADTEST_KIT_PORT_H

/* Choose a port at random that no socket has, and hold it with a socket that is bound and does not
 * listen.  A server that sets SO_REUSEADDR can bind the held port; Java does not set it.  Another
 * call, in any process, does not choose a held port.  A connection to a held port is refused until
 * the server listens.  The answer is the holding socket, which the caller owns: close it when the
 * server listens, or leave it to the end of the process, so that the server can be started again.
 * A program that is executed does not get the socket.  -1: no free port was found, and *port means
 * nothing.  Any thread may call it. */
int port_hold(int *port);

#endif /* LOADTEST_KIT_PORT_H */
