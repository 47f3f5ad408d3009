/* SPDX-License-Identifier: MIT */
/* redis_connection.h -- the laboratory's own connection to a Redis server of the lab, by which
 * faults and scenarios ask the server and change its state.
 *
 * Threads     A side belongs to one thread.
 * Errors      Nothing is printed: redis_side_text() says what went wrong.
 */
#ifndef LOADTEST_PROBE_REDIS_CONNECTION_H
#define LOADTEST_PROBE_REDIS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadtest/lab/lab.h"

struct redis_side; /* opaque */

enum redis_said {
    REDIS_SAID,         /* a text or a number                                        */
    REDIS_SAID_NOTHING, /* nil                                                       */
    REDIS_SAID_NO,      /* the server answered with an error, which is the text      */
    REDIS_SILENT,       /* no answer in time, or no connection: this side is used up */
};

enum { REDIS_SIDE_MS = 2000 };

/* Connect to `server` on its port and log in.  Never NULL: if that failed, every answer
 * is SILENT.  No call lasts longer than `timeout_ms`. */
struct redis_side *redis_side_open(const struct lab *lab,
                                   const struct lab_server *server, int timeout_ms);
/* NULL is fine. */
void redis_side_close(struct redis_side *side);

/* Send a command as hiredis formats it: %s a text, %lld a number, %b bytes and a size_t.
 * An array counts as its first element. */
enum redis_said redis_side_ask(struct redis_side *side, const char *format, ...);

/* The last answer as a text; "" for nil.  Valid until the next question. */
const char *redis_side_text(const struct redis_side *side);
/* As a number; 0 if it is none. */
int64_t redis_side_number(const struct redis_side *side);

/* Read a field of INFO, such as "run_id", into out; "" if there is none.  False: silent.
 * */
bool redis_side_info(struct redis_side *side, const char *field, char *out,
                     size_t size);

/* A field that is a number; -1: silent, or no number. */
int64_t redis_side_info_number(struct redis_side *side, const char *field);

/* The number of keys in all databases of the server; -1: the server does not answer. */
int64_t redis_side_keys(struct redis_side *side);

/* Ask INFO until the field has that value.  False: not within timeout_ms. */
bool redis_side_await(struct redis_side *side, const char *field, const char *value,
                      int64_t timeout_ms);

/* Ask until somebody listens on a channel of `{name}`.  False: nobody within timeout_ms, or
 * silent. */
bool redis_side_await_listener(struct redis_side *side, const char *name,
                               int64_t timeout_ms);

/* Is there such a key?  False in *there as well if it is silent. */
bool redis_side_has(struct redis_side *side, const char *key, bool *there);

#endif /* LOADTEST_PROBE_REDIS_CONNECTION_H */
