/* SPDX-License-Identifier: MIT */
/* progress.h -- the progress of a long command, the time that is left, and whether the
 * machine is busy with other things.
 *
 * On a terminal one line is drawn over again and again; elsewhere, as in a log, a line
 * is written every 15 s at most.
 */
#ifndef LOADTEST_KIT_PROGRESS_H
#define LOADTEST_KIT_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    size_t count, done; /* of runs: all, and those that have ended                    */
    int64_t begin_ns, said_ns;
};

/* Begin the progress now. */
void progress_begin(struct progress *p, size_t count);

/* "[3/84] WHAT, about 5 min left", and the load of a busy machine. */
void progress_show(struct progress *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Print a line of its own, in a log as well, such as an unexpected result. */
void progress_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Take the line away. */
void progress_end(void);

/* The load average of the last minute; 0: not known. */
double progress_load(void);
/* Do more than four threads per processor run or wait?  A command of the laboratory alone
 * makes a smaller load, so other programs are busy. */
bool progress_is_busy(double load);

/* An estimate of the time that is left, from the work done so far; -1: not known yet. */
int64_t progress_left_ms(size_t done, size_t count, int64_t elapsed_ms);

#endif /* LOADTEST_KIT_PROGRESS_H */
