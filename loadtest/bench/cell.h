/* SPDX-License-Identifier: MIT */
/* cell.h -- a part of a measurement, in a process of its own.
 *
 * Threads, connections and memory of one cell do not affect the next cell, and a cell that hangs is
 * killed.  A cell is a fork without an exec.  The child may open lock systems, because the parent
 * has one thread and no open lock system.  The child writes its results into shared memory.
 */
#ifndef LOADTEST_BENCH_CELL_H
#define LOADTEST_BENCH_CELL_H

#include <stddef.h>

#include "base/text/exit_codes.h"
#include "loadtest/kit/child.h"

/* The function of the child; its answer is the exit status of the child.  The reason of a failure
 * is on stderr. */
typedef enum exit_code cell_fn(const void *plan, void *shared);

/* Zeroed memory that children see too.  Ends the program if there is none. */
void *cell_share(size_t size);
void cell_unshare(void *shared, size_t size);

/* Start a cell, which dies with this process.  False: the reason is on stderr. */
bool cell_start(struct child *child, cell_fn *run, const void *plan, void *shared);

/* Wait for the answer of a cell; `name` is for messages.  A cell without an answer within
 * `limit_ms` is killed: EXIT_BUG.  If a signal asks the program to stop, the cell is killed:
 * EXIT_INTERRUPTED. */
enum exit_code cell_wait(struct child *child, int64_t limit_ms, const char *name);

#endif /* LOADTEST_BENCH_CELL_H */
