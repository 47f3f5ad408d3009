/* SPDX-License-Identifier: MIT */
/* script.h -- chooses the wrong answer for each answer of a lying server.
 *
 * The servers ask before each answer, the test chooses it, and sees the result.
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

/* From now on the `step`th answer, from 1, is that lie; the request is executed all the
 * same.  0: none is.  The lie must last until the next call of this. */
void script_lie(int step, const struct lie *lie);
void script_be_honest(void);

/* From now on answers are sent one byte at a time, or not. */
void script_send_bytes(bool one_by_one);

/* The number of answers since, but for those to SUBSCRIBE and UNSUBSCRIBE: after a lost
 * connection a client subscribes anew to all channels that its threads still listen to, also
 * those of names before.  Was the lie told, and to which request? */
int script_answer_count(void);
bool script_has_lied(char asked[SCRIPT_ASKED_SIZE]);

/* The last command that the server received. */
void script_last_asked(char asked[SCRIPT_ASKED_SIZE]);

/* Hang up on every client. */
void script_hang_up(void);

/* Send bytes that nobody asked for to every client. */
void script_send_unasked(const struct lie *lie);

/* --- for the servers --- */

/* A client has come, and is to be closed by script_part(). */
void script_meet(int fd);
void script_part(int fd);

/* Answer `asked` with these bytes, or with the lie that is due.  False: hang up. */
bool script_answer(int fd, const char *asked, const char *honest, size_t len);

#endif /* LIAR_SCRIPT_H */
