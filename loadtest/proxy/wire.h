/* SPDX-License-Identifier: MIT */
/* wire.h -- one connection through the proxy, and what the faults do to it. */
#ifndef LOADTEST_PROXY_WIRE_H
#define LOADTEST_PROXY_WIRE_H

#include "loadtest/proxy/pipe.h"

/* A fault that was armed. */
struct proxy_armed {
    struct proxy_fault fault;
    struct proxy_strike strike;
    uint64_t claimed; /* the connection that has met its condition; 0: none           */
    bool is_over;     /* released, or disarmed                                        */
};

/* All armed faults, and the functions to call; the proxy's lock guards them. */
struct proxy_arms {
    struct proxy_armed armed[PROXY_FAULTS_MAX];
    int count;
    uint64_t strikes, claims;
    enum proxy_protocol protocol;
    void (*told)(struct proxy_armed *armed, void *arg); /* at each strike */
    void (*release)(const struct proxy_fault *fault, void *arg);
    bool (*is_held)(const struct proxy_fault *fault, void *arg);
    void (*seen)(const struct proxy_glimpse *glimpse, void *arg);
    void *arg;
};

struct proxy_mark {
    bool is_due, is_struck;
    uint64_t at_message; /* of the fault's own direction; UINT64_MAX: wherever it is  */
    uint64_t looked;     /* the message, from 1, in which its word was looked for     */
    uint64_t word_at;    /* the byte before which it strikes, plus 1; 0: no word yet  */
};

struct proxy_wire {
    uint64_t number;
    int fds[2];              /* by direction, who reads: the server, the client       */
    bool is_connecting, is_cut, cuts_with_fin;
    int64_t cut_by_ns;       /* then the cut comes, also if judged bytes were not sent */
    struct proxy_pipe pipes[2];
    struct proxy_mark marks[PROXY_FAULTS_MAX];
};

/* The wire owns both descriptors from now on.  NULL: no memory, and both are closed. */
struct proxy_wire *proxy_wire_new(uint64_t number, int client, int server,
                                  enum proxy_protocol protocol);

/* Close both ends: with a reset, unless both directions have ended or a fault cuts without a
 * reset. */
void proxy_wire_free(struct proxy_wire *w, struct proxy_arms *arms);

/* Judge and send bytes, as far as possible.  False: the connection has ended. */
bool proxy_wire_step(struct proxy_wire *w, struct proxy_arms *arms);

/* Is the connection past the byte at which this fault would strike? */
bool proxy_wire_is_past(const struct proxy_wire *w, const struct proxy_fault *f);

#endif /* LOADTEST_PROXY_WIRE_H */
