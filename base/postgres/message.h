/* SPDX-License-Identifier: MIT */
/* message.h -- what libpq and the server say, for people: one line instead of several.
 *
 * Threads     Any. */
#ifndef BASE_POSTGRES_MESSAGE_H
#define BASE_POSTGRES_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { POSTGRES_STATE_SIZE = 6 }; /* a SQLSTATE and its NUL */

/* Write the lines of `text` to `out` as one, cut to `size`: "a\n\tb." as "a; b.".  The
 * SQLSTATEs and places in the server's source that libpq's verbose messages have are left
 * out. */
void postgres_message_fold(char *out, size_t size, const char *text);

/* If the folded message `out` is empty, or ends where libpq begins to say what the server
 * answered, add `reason`. */
void postgres_message_complete(char *out, size_t size, const char *reason);

/* The first SQLSTATE in a verbose message of libpq; "" if there is none. */
void postgres_message_state(char state[POSTGRES_STATE_SIZE], const char *text);

/* A connection could not be opened, the server said `state` ("" if it did not), and the
 * folded message is `text`: is the reason one that waiting does not mend, such as a wrong
 * password, a database that is not there, or a pooler that was not expected? */
bool postgres_message_is_final(const char *state, const char *text);

/* Is the message `text` that of a pooler, which takes no settings when a connection is
 * opened? */
bool postgres_message_is_of_pooler(const char *text);

#endif /* BASE_POSTGRES_MESSAGE_H */
