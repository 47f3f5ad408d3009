/* SPDX-License-Identifier: MIT */
/* status.h -- the reason phrases of HTTP statuses.
 *
 * Threads     Any.
 */
#ifndef BASE_HTTP_STATUS_H
#define BASE_HTTP_STATUS_H

/* The reason phrase of a status; "Answer" for a status that the list does not have.  A static
 * text. */
const char *http_status_reason(int status);

#endif /* BASE_HTTP_STATUS_H */
