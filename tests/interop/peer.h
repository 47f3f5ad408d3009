/* SPDX-License-Identifier: MIT */
/* peer.h -- functions that the files of the C peer share. */
#ifndef INTEROP_PEER_H
#define INTEROP_PEER_H

#include "lock/dlock.h"
#include "tests/interop/command.h"

enum { ANSWER_MAX = 1024 };

/* Write the word for a status into `answer`; for a failure "error" and the reason. */
void peer_answer(dlock_status st, char answer[ANSWER_MAX]);

/* Run a command of the kinds semaphore, permits and latch. If there is no such command, `answer` is
 * left unchanged. */
void peer_primitive(const char *redis_url, const char *kind, const char *verb,
                    const struct command *command, char answer[ANSWER_MAX]);

/* Let "threads" threads contend for the lock "name" for "ms" milliseconds. Each holder increments
 * "number" in Redis. The answer has the number of grants and the times that the threads waited. */
void peer_contend(dlock_system *sys, bool shared, const char *redis_url,
                const struct command *command, char answer[ANSWER_MAX]);

#endif /* INTEROP_PEER_H */
