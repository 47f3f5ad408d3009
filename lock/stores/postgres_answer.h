/* SPDX-License-Identifier: MIT */
/* postgres_answer.h -- reads the answer to a statement, and checks that the statement
 * can have it.
 *
 * Every answer of a server is read here.  PROTOCOL: the statement cannot have this
 * answer, because of its number of rows or columns, a type, an unexpected NULL, or a
 * number out of range. */
#ifndef DLOCK_POSTGRES_ANSWER_H
#define DLOCK_POSTGRES_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/postgres/wire.h"
#include "lock/dlock_variant.h"

/* The content of the only column. */
enum postgres_kind {
    POSTGRES_NOTHING, /* no rows: the statement has only to succeed */
    POSTGRES_VOID,
    POSTGRES_BOOL,
    POSTGRES_INT4,
    POSTGRES_INT8,
    POSTGRES_TEXT,
};

/* The shape of an answer: one row of one column that is not NULL, unless a field says
 * otherwise. */
struct postgres_shape {
    enum postgres_kind kind;
    bool may_be_absent;  /* there may be no row       */
    bool may_be_null;
    int64_t least, most; /* of POSTGRES_INT4 and INT8 */
};

/* The shapes of RETURNING 1 with at most one row, and of a count. */
#define POSTGRES_ONE_IF_ANY                                                            \
    {.kind = POSTGRES_INT4, .may_be_absent = true, .least = 1, .most = 1}
#define POSTGRES_COUNT {.kind = POSTGRES_INT8, .least = 0, .most = INT32_MAX}
/* The number of sessions that were ended; -1: one of them has not ended yet. */
#define POSTGRES_ENDED {.kind = POSTGRES_INT8, .least = -1, .most = INT32_MAX}

/* The largest number of milliseconds until the end of a lease by the database's clock,
 * whose times are microseconds. */
#define POSTGRES_MS_MOST (INT64_MAX / 1000)

enum { POSTGRES_TEXT_SIZE = 160 };

struct postgres_answer {
    bool has_row;
    bool is_null;   /* also without a row                              */
    bool is_true;   /* of POSTGRES_BOOL                                */
    int64_t number; /* of POSTGRES_INT4 and INT8                       */
    char text[POSTGRES_TEXT_SIZE]; /* of POSTGRES_TEXT; cut if it is long */
};

/* Read the result of the statement `sql` into *out.  OK, or PROTOCOL. */
dlock_status postgres_answer_read(const struct postgres_result *result, const char *sql,
                                  const struct postgres_shape *shape,
                                  struct postgres_answer *out);

#endif /* DLOCK_POSTGRES_ANSWER_H */
