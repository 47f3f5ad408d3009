/* SPDX-License-Identifier: MIT */
/* cell.h -- a part of a measurement, in a process of its own.
 *
 * Threads, connections and memory of one cell cannot touch the next, and a cell
 * that hangs is killed.  A cell is a fork without an exec: the laboratory has one thread
 * and holds no system of the lock library, so the child is free to make its own.  The
 * child talks to its parent through shared memory.
 */
#ifndef LOADTEST_BENCH_CELL_H
#define LOADTEST_BENCH_CELL_H

#include <stddef.h>

#include "base/text/exit_codes.h"
#include "loadtest/kit/child.h"

/* Runs in the child; its answer is the child's exit status.  Says on stderr what went
 * wrong. */
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
