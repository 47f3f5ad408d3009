/* SPDX-License-Identifier: MIT */
/* verdict.h -- the verdicts valid, invalid and unknown, and the rule that makes one verdict of
 * several.
 *
 * The audit, the check, the comparison, the scenarios and the matrix judge by rules of their
 * own.  Their words, their JSON, their colours and their exit statuses are here.
 *
 * Threads     Any, but for a struct verdict_counts, which belongs to its caller.
 */
#ifndef LOADTEST_KIT_VERDICT_H
#define LOADTEST_KIT_VERDICT_H

#include <jansson.h>
#include <stdint.h>

#include "base/text/exit_codes.h"
#include "loadtest/kit/style.h"

/* A worse verdict is greater.  INVALID is the worst, because a violation that was found remains
 * one, whatever is unknown beside it.
 *
 * X(id, name, title, mark, beside, style)
 *   beside    the name where the judge compares with an expectation */
#define VERDICTS(X)                                                                    \
    X(VALID, "valid", "VALID", "ok ", "as expected", GOOD)                             \
    X(UNKNOWN, "unknown", "UNKNOWN", "?  ", "unknown", WARN)                           \
    X(INVALID, "invalid", "INVALID", "BAD", "UNEXPECTED", BAD)

enum verdict {
#define X(id, name, title, mark, beside, style) VERDICT_##id,
    VERDICTS(X)
#undef X
    VERDICT_COUNT
};

/* The number of judged things with each verdict.  Begins as {0}. */
struct verdict_counts {
    int64_t of[VERDICT_COUNT];
};

/* The worse of two. */
enum verdict verdict_worse(enum verdict a, enum verdict b);

void verdict_count(struct verdict_counts *counts, enum verdict verdict);

/* The worst that was counted; VALID if nothing was. */
enum verdict verdict_worst(const struct verdict_counts *counts);

/* "valid"; "VALID"; three characters before a finding; "as expected" or "UNEXPECTED"; the
 * colour of all of these.  Static. */
const char *verdict_name(enum verdict verdict);
const char *verdict_title(enum verdict verdict);
const char *verdict_mark(enum verdict verdict);
const char *verdict_beside_expectation(enum verdict verdict);
enum report_style verdict_style(enum verdict verdict);

/* true, false, or "unknown".  The caller owns it; NULL: no memory. */
json_t *verdict_to_json(enum verdict verdict);

/* EXIT_VALID, EXIT_INVALID or EXIT_UNKNOWN. */
enum exit_code verdict_exit(enum verdict verdict);

/* The exit status of a command with a part that ended with `a` and a part that ended with `b`:
 * the first of EXIT_BUG, EXIT_UNAVAILABLE, EXIT_INVALID, EXIT_UNKNOWN that one of them is;
 * otherwise the one that is not EXIT_VALID. */
enum exit_code verdict_worse_exit(enum exit_code a, enum exit_code b);

#endif /* LOADTEST_KIT_VERDICT_H */
