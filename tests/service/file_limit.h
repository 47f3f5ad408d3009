/* SPDX-License-Identifier: MIT */
/* file_limit.h -- a full disk for the PostgreSQL of the test's own lab, without a disk: its
 * processes get a limit for the size of a file, one half page beyond the orders' table.  The
 * next page is written in part, which PostgreSQL calls a full disk.
 *
 * Each function fails the running test when it cannot do its work.
 *
 * Threads     The test's main one.
 */
#ifndef TESTS_SERVICE_FILE_LIMIT_H
#define TESTS_SERVICE_FILE_LIMIT_H

/* Make the orders' table larger than a segment of the log, which the limit must not meet. */
void file_limit_prepare(void);

/* Limit every process of the server, and those that it will start. */
void file_limit_set(void);

/* Take the limit away from all. */
void file_limit_end(void);

#endif /* TESTS_SERVICE_FILE_LIMIT_H */
