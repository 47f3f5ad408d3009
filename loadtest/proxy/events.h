/* SPDX-License-Identifier: MIT */
/* events.h -- the reports of a proxy: faults that happened, messages, and counts. */
#ifndef LOADTEST_PROXY_EVENTS_H
#define LOADTEST_PROXY_EVENTS_H

#include "loadtest/proxy/script.h"

enum { PROXY_FAULTS_MAX = 128 }; /* that one proxy can be given in its life */

/* The state of a fault. */
struct proxy_strike {
    int fault;
    char text[PROXY_TEXT_MAX + 1];
    uint64_t strikes;       /* 0: it has not struck                                   */
    uint64_t connection;    /* where it struck last                                   */
    int64_t first_ns, last_ns;
};

/* Called in the proxy's thread, at each strike.  Must not block or call the proxy. */
typedef void proxy_strike_fn(const struct proxy_strike *strike, void *arg);

enum { PROXY_GLIMPSE_MAX = 2048 };

/* A message that was passed on or dropped. */
struct proxy_glimpse {
    enum proxy_direction direction;
    uint64_t connection, number; /* both from 1; of the message: in its direction     */
    int64_t at_ns;               /* when its last byte was let go                     */
    const unsigned char *head;   /* its first bytes, during the call                  */
    size_t size;                 /* of head: at most PROXY_GLIMPSE_MAX                */
    bool is_dropped;
};

/* Called in the proxy's thread, for each message.  Must not block or call the proxy. */
typedef void proxy_glimpse_fn(const struct proxy_glimpse *glimpse, void *arg);

struct proxy_options {
    const char *target; /* "127.0.0.1:6379", "localhost:6379" or "unix:/path"         */
    enum proxy_protocol protocol;
    int port;           /* to listen on; 0: a free one                                */
    proxy_strike_fn *on_strike; /* may be NULL                                        */
    proxy_glimpse_fn *on_message; /* may be NULL                                      */
    void *arg;
};

struct proxy_stats {
    uint64_t connections, open, refused; /* refused: the target could not be reached  */
    uint64_t received[2], sent[2], dropped[2]; /* bytes, by direction                 */
    uint64_t messages[2];   /* that came to their end                                 */
    uint64_t lost;          /* directions whose bytes are not of the protocol         */
    uint64_t strikes;
    int armed, unstruck;    /* faults, and those of them that never struck            */
};

#endif /* LOADTEST_PROXY_EVENTS_H */
