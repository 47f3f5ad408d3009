/* SPDX-License-Identifier: MIT */
/* standby.h -- a standby of the lab's PostgreSQL; one at a time. */
#ifndef TESTS_SERVICE_STANDBY_H
#define TESTS_SERVICE_STANDBY_H

/* Copy the server and wait until the copy follows it; answers --database-url=... of the
 * copy. */
const char *standby_start(void);

/* Make the copy a server of its own, which it is a little later. */
void standby_promote(void);

/* End it and remove its files. */
void standby_end(void);

#endif /* TESTS_SERVICE_STANDBY_H */
