/* SPDX-License-Identifier: MIT */
/* script.h -- chooses the wrong answer for each answer of a lying server.
 *
 * The servers call script_answer() for each answer; the test chooses the wrong answer, and reads
 * what was sent.
 *
 * Threads     Any. */
#ifndef LIAR_SCRIPT_H
#define LIAR_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

struct lie {
    const char *name; /* for messages */
    const char *bytes;
    size_t len;
    bool then_close;
};

enum { SCRIPT_ASKED_SIZE = 512 };

/* From now on, answer number `step`, from 1, is that wrong answer; the server still executes the
 * request. 0: no answer is wrong. `lie` must exist until the next call of this function. */
void script_lie(int step, const struct lie *lie);
void script_be_honest(void);

/* From now on, send answers one byte at a time, or whole. */
void script_send_bytes(bool one_by_one);

/* The number of answers since script_lie(), without those to SUBSCRIBE and UNSUBSCRIBE: after a
 * lost connection a client subscribes again to all channels of its waiting threads, which may be
 * channels of earlier names. Was the wrong answer sent, and to which request? */
int script_answer_count(void);
bool script_has_lied(char asked[SCRIPT_ASKED_SIZE]);

/* The last command that the server received. */
void script_last_asked(char asked[SCRIPT_ASKED_SIZE]);

/* Close the connections of all clients. */
void script_hang_up(void);

/* Send bytes without a request to every client. */
void script_send_unasked(const struct lie *lie);

/* --- for the servers --- */

/* A client has connected; script_part() closes it. */
void script_meet(int fd);
void script_part(int fd);

/* The wrong answer that is due now; NULL: the answer to `asked` is honest. */
const struct lie *script_next(const char *asked);

/* Answer `asked` with these bytes, or with the wrong answer that is due. Returns false if the
 * server has to close the connection. */
bool script_answer(int fd, const char *asked, const char *honest, size_t len);

#endif /* LIAR_SCRIPT_H */
