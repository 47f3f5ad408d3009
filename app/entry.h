/* SPDX-License-Identifier: MIT */
/* entry.h -- what every request goes through before its route; no civetweb here. */
#ifndef APP_ENTRY_H
#define APP_ENTRY_H

#include "app/routes.h"

/* An answer that says 500 until somebody answers. */
struct answer entry_empty_answer(struct text *body);

/* Give it the id that it brought as Idempotency-Key, or a new one.  False: it brought one
 * that cannot be, or two. */
bool entry_name_request(struct request *rq);

/* Refuse it; the connection is closed then, since what follows is not to be trusted. */
void entry_refuse(const struct request *rq, struct answer *an, int status,
                  const char *why);

/* The same by what the gate found; the text says which line of the head it is. */
void entry_refuse_head(const struct request *rq, struct answer *an);

/* Does the client want to go on after the answer?  civetweb decides in the same way. */
bool entry_wants_keep_alive(const struct gate_request *head);

/* Count an answer of the orders listener by its outcome, also if it was refused early.
 * Only one thread at a time may use a cell. */
void entry_count(struct metrics_cell *cell, const struct gate_request *head,
                 const struct answer *an, int64_t start_ns);

#endif /* APP_ENTRY_H */
