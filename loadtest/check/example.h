/* SPDX-License-Identifier: MIT */
/* example.h -- the calls and marks that show a violation, for people and for programs.
 *
 * Threads     A history belongs to one thread, and so do these calls with it.
 */
#ifndef LOADTEST_CHECK_EXAMPLE_H
#define LOADTEST_CHECK_EXAMPLE_H

#include "base/os/utf8.h"
#include "loadtest/check/check.h"

enum {
    EXAMPLE_NAME_MAX = UTF8_SHOWN_SIZE(DLOCK_NAME_MAX), /* bytes of a name as it is shown */
    EXAMPLE_CALLS_MAX = 40,                             /* calls that are shown            */
};

/* A duration in milliseconds. */
double example_ms(int64_t ns);

/* A name of the history as text.  Names hold any bytes: a terminal obeys some bytes as commands,
 * and JSON takes only text. */
void example_name(char out[EXAMPLE_NAME_MAX], const struct history *h, uint32_t name);

/* The short id of the answer, or "no answer".  Static. */
const char *example_answer(const struct history_call *call);

/* The index of the call that broke the rule, and of the call that it collided with; -1: none.
 * For a refusal the earlier holder is only shown to the reader. */
int64_t example_culprit(size_t property, const struct check_example *example);
int64_t example_victim(size_t property, const struct check_example *example);

/* Is the call, or the mark, shown with the example?  Shown are, within its window, the calls of its
 * owners, the call that is the cause, the losses of the lock, and all faults. */
bool example_shows(const struct history *h, const struct check_example *example,
                   const struct history_call *call);
bool example_shows_mark(const struct check_example *example,
                        const struct history_mark *mark);

#endif /* LOADTEST_CHECK_EXAMPLE_H */
