/* SPDX-License-Identifier: MIT */
/* connection.h -- one kept-alive HTTP connection that never blocks, with one request on it at
 * a time.
 *
 * Threads     One.
 */
#ifndef LOADTEST_OPEN_LOOP_CONNECTION_H
#define LOADTEST_OPEN_LOOP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadtest/open_loop/http_answer.h"

enum connection_state {
    CONNECTION_DOWN,       /* has no socket                                           */
    CONNECTION_CONNECTING,
    CONNECTION_FREE,       /* a request can be sent                                   */
    CONNECTION_BUSY,       /* waits for an answer                                     */
};

struct connection {
    enum connection_state state;
    int fd; /* -1: none                                                               */
    int port, target;
    int64_t request;   /* its number, while BUSY                                      */
    int64_t due_ns;    /* the due time of that request                                */
    int64_t retry_ns;  /* while DOWN: the earliest time of the next connect           */
    size_t to_send, sent; /* of `out`                                                 */
    bool is_writing;      /* epoll tells when the socket takes more                   */
    size_t received;      /* in `in`                                                  */
    char out[1024];
    char in[HTTP_ANSWER_MAX];
};

/* Begin to connect, and have `poll_fd` (of epoll) tell of it with the connection's address.
 * DOWN afterwards: it failed. */
void connection_open(struct connection *connection, int poll_fd);

/* DOWN afterwards, and not to be opened before `retry_ns`. */
void connection_cut(struct connection *connection, int64_t retry_ns);

/* Call when epoll tells of a connection that is CONNECTING.  The connection is FREE then;
 * false: the connect failed. */
bool connection_finish(struct connection *connection, int poll_fd);

/* Send the `to_send` bytes of `out` on a FREE connection, which is BUSY then; bytes that the
 * socket does not take at once go with connection_flush().  False: the connection is broken. */
bool connection_send(struct connection *connection, int poll_fd);
bool connection_flush(struct connection *connection, int poll_fd);

/* The result of a receive. */
enum connection_event {
    CONNECTION_NOTHING,  /* not yet a whole answer                                    */
    CONNECTION_ANSWERED, /* *answer, which points into the connection, until connection_next() */
    CONNECTION_BROKEN,   /* closed by the server, or the bytes are no answer           */
};
enum connection_event connection_receive(struct connection *connection,
                                         struct received_answer *answer);

/* The answer has been read: FREE again. */
void connection_next(struct connection *connection);

#endif /* LOADTEST_OPEN_LOOP_CONNECTION_H */
