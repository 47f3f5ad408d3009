/* SPDX-License-Identifier: MIT */
/* redis_answer.h -- what a server said to one command.
 *
 * Threads     A value. */
#ifndef DLOCK_REDIS_ANSWER_H
#define DLOCK_REDIS_ANSWER_H

#include "lock/dlock.h"

enum { REDIS_TEXT_SIZE = 160 };

enum redis_kind { REDIS_NIL, REDIS_INTEGER, REDIS_TEXT, REDIS_OTHER };

struct redis_answer {
    dlock_status status; /* OK: the fields below hold; otherwise only text */
    enum redis_kind kind;
    int64_t integer;
    char text[REDIS_TEXT_SIZE]; /* of a TEXT, cut; or what went wrong, and where */
};

struct redisReader;

/* Where hiredis' reader puts what it reads, once bound: no memory is taken for a reply.
 * It stays in place as long as the reader. */
struct redis_reading {
    struct redis_answer answer;
    const char *label; /* of the server, before the text of an error */
};

void redis_reading_bind(struct redis_reading *reading, struct redisReader *reader,
                        const char *label);

/* Copy what was read, and be ready for the next. */
void redis_reading_take(struct redis_reading *reading, struct redis_answer *out);

/* What an error means that the server has answered: PROTOCOL, or IO if it is only that it
 * has as many clients as it may have.  It says so to whatever comes first on a connection,
 * does nothing of it, and may have room again soon: as if it could not be reached. */
dlock_status redis_refusal(const char *text, size_t len);

/* It failed, and why. */
void redis_answer_fail(struct redis_answer *answer, dlock_status status,
                       const char *why);

#endif /* DLOCK_REDIS_ANSWER_H */
