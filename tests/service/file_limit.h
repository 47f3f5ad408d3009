/* SPDX-License-Identifier: MIT */
/* file_limit.h -- makes the PostgreSQL of the test's own lab report a full disk, without filling a
 * disk: the server's processes get a limit for the size of a file, half a page above that of the
 * orders' table. PostgreSQL can then write only a part of the next page, and reports a full disk.
 *
 * Each function fails the running test when it cannot do its work.
 *
 * Threads     The main thread of the test.
 */
#ifndef TESTS_SERVICE_FILE_LIMIT_H
#define TESTS_SERVICE_FILE_LIMIT_H

/* Make the orders' table larger than a segment of the WAL, so that the limit does not apply to the
 * WAL. */
void file_limit_prepare(void);

/* Set the limit for every process of the server, and for those that it will start. */
void file_limit_set(void);

/* Remove the limit from all processes. */
void file_limit_end(void);

#endif /* TESTS_SERVICE_FILE_LIMIT_H */
