/* SPDX-License-Identifier: MIT */
/* peer.h -- what the parts of the C peer share. */
#ifndef INTEROP_PEER_H
#define INTEROP_PEER_H

#include "lock/dlock.h"
#include "tests/interop/command.h"

enum { ANSWER_MAX = 1024 };

/* The word for a status; for a failure "error" and why. */
void peer_answer(dlock_status st, char answer[ANSWER_MAX]);

/* Run a command of the kinds semaphore, permits and latch; leaves `answer` alone if
 * there is none such. */
void peer_primitive(const char *redis_url, const char *kind, const char *verb,
                    const struct command *command, char answer[ANSWER_MAX]);

/* Let "threads" threads contend for the lock "name" for "ms", each section counting
 * "number" up in Redis; answers how many were granted, and what they waited. */
void peer_contend(dlock_system *sys, bool shared, const char *redis_url,
                const struct command *command, char answer[ANSWER_MAX]);

#endif /* INTEROP_PEER_H */
