/* SPDX-License-Identifier: MIT */
/* pipe.h -- one direction of one connection: bytes wait to be judged, then
 * to be sent. */
#ifndef LOADTEST_PROXY_PIPE_H
#define LOADTEST_PROXY_PIPE_H

#include "loadtest/proxy/events.h"

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

#endif /* LOADTEST_PROXY_PIPE_H */
