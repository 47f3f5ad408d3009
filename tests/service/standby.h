/* SPDX-License-Identifier: MIT */
/* standby.h -- starts a standby of the lab's PostgreSQL; one at a time. */
#ifndef TESTS_SERVICE_STANDBY_H
#define TESTS_SERVICE_STANDBY_H

/* Copy the server and wait until the copy follows it. Returns --database-url=... of the copy. */
const char *standby_start(void);

/* Promote the copy; it becomes a primary a little later. */
void standby_promote(void);

/* Stop the copy and remove its files. */
void standby_end(void);

#endif /* TESTS_SERVICE_STANDBY_H */
