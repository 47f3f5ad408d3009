/* SPDX-License-Identifier: MIT */
/* wire.h -- one connection through the proxy, and what the faults do to it. */
#ifndef LOADTEST_PROXY_WIRE_H
#define LOADTEST_PROXY_WIRE_H

#include "loadtest/proxy/events.h"

/* ---- one direction of one connection: bytes wait to be judged, then to be sent ---- */

enum { PIPE_SIZE = 65536, PIPE_PARTS = 256 };

struct proxy_pipe {
    struct proxy_scanner scanner;
    enum proxy_direction direction;
    /* not judged yet */
    unsigned char in[PIPE_SIZE];
    size_t in_start, in_len;
    bool eof; /* nothing follows */
    /* judged, to be sent in parts, each when it is due */
    unsigned char out[PIPE_SIZE];
    size_t out_len;
    struct proxy_part {
        size_t size;
        int64_t due_ns;
    } parts[PIPE_PARTS];
    size_t part_count;
    bool shut; /* the reader was told that nothing follows */
    /* where the next byte to be judged stands */
    uint64_t passed, messages, in_message;
    /* the effects of faults */
    bool held, over, dropping;
    int64_t delay_ns;
    uint64_t drop_bytes, drop_messages;
    uint64_t received, sent, dropped;
    /* the beginning of a message, for on_message() */
    bool is_watched, is_seen, was_dropped; /* seen: to its end                        */
    unsigned char head[PROXY_GLIMPSE_MAX];
    size_t head_size;
};

/* Read once.  False: the connection is broken. */
bool proxy_pipe_read(struct proxy_pipe *p, int fd);

/* Send what is due.  False: the connection is broken. */
bool proxy_pipe_send(struct proxy_pipe *p, int fd, int64_t now_ns);

bool proxy_pipe_wants_input(const struct proxy_pipe *p);

/* When the first part is due; INT64_MAX if there is none. */
int64_t proxy_pipe_due_ns(const struct proxy_pipe *p);

/* Has the whole message that begins here arrived, or as much of it as `in` has room for? */
bool proxy_pipe_has_message(const struct proxy_pipe *p, size_t *size);

/* Judge up to `most` bytes, no further than the end of the message: pass them on or
 * drop them.  False: nothing could be done. */
bool proxy_pipe_judge(struct proxy_pipe *p, uint64_t most, int64_t now_ns);

/* Drop all bytes that are not judged yet; judged bytes are still sent. */
void proxy_pipe_end(struct proxy_pipe *p);

/* ---- a connection ---- */

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
