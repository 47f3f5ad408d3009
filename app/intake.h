/* SPDX-License-Identifier: MIT */
/* intake.h -- the bytes that a client sent, as they came.
 *
 * civetweb parses a head where it lies and writes NULs over what stood between its parts;
 * it tells neither how long the head was nor what the bytes were, and behind them lies
 * what earlier requests left.  So this program puts a recv() of its own before the C
 * library's: for a thread that has an intake it keeps a copy of what was received.
 *
 * Does not survive a civetweb that is linked statically, or reads by another call: its
 * bytes do not pass here then, and http.c refuses every request (500).
 *
 * Threads     An intake belongs to one thread.
 */
#ifndef APP_INTAKE_H
#define APP_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

/* What civetweb has in its buffer; a zeroed struct is empty. */
struct intake {
    char *bytes; /* owned; memory is taken when the first byte comes */
    size_t length;
    size_t capacity; /* as large as civetweb's buffer */
    bool is_broken;  /* a byte was lost: there was no memory, or no room */
};

/* From now on this thread's recv() adds to `in`; NULL: to nothing. */
void intake_watch(struct intake *in);

/* The first `count` bytes are done with; with more than there are, all of them. */
void intake_consume(struct intake *in, size_t count);

/* Forget everything and give the memory back. */
void intake_end(struct intake *in);

#endif /* APP_INTAKE_H */
