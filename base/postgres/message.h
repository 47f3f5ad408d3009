/* SPDX-License-Identifier: MIT */
/* message.h -- makes one line of the messages of libpq and the server, and reads what
 * they mean.
 *
 * Threads     Any. */
#ifndef BASE_POSTGRES_MESSAGE_H
#define BASE_POSTGRES_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { POSTGRES_STATE_SIZE = 6 }; /* a SQLSTATE and its NUL */

/* Write the lines of `text` to `out` as one line that can be shown (base/os/utf8.h), cut to `size`:
 * "a\n\tb." as "a; b.".
 * The SQLSTATEs and source positions of libpq's verbose messages are left out. */
void postgres_message_fold(char *out, size_t size, const char *text);

/* Add `reason` to the folded message `out` if that is empty, or is cut where the
 * server's answer would follow. */
void postgres_message_complete(char *out, size_t size, const char *reason);

/* The first SQLSTATE in a verbose message of libpq; "" if there is none. */
void postgres_message_state(char state[POSTGRES_STATE_SIZE], const char *text);

/* A connection could not be opened, with the SQLSTATE `state` ("": none) and the folded
 * message `text`.  Will later tries fail too, because of a wrong password, a missing
 * database or an unexpected pooler? */
bool postgres_message_is_final(const char *state, const char *text);

/* Has a connection to be closed after an error with this SQLSTATE, although the outcome of
 * the statement is known?  True if the server takes no writes any more (25006), or if a
 * prepared statement is missing or exists already (26000, 42P05), because a pooler has
 * given the session to another connection. */
bool postgres_message_spends(const char *state);

/* Is `text` the message of a pooler that refuses settings in the opening of a
 * connection? */
bool postgres_message_is_of_pooler(const char *text);

#endif /* BASE_POSTGRES_MESSAGE_H */
