/* SPDX-License-Identifier: MIT */
/* ident.h -- parses the numbers and request ids of clients. */
#ifndef APP_IDENT_H
#define APP_IDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REQUEST_ID_MAX = 64 };

/* Read the number of a voucher, user or order: digits only, 1 to 2^63 - 1, no leading
 * zero.  NULL: *id is set.  Otherwise a sentence that says what is wrong. */
const char *ident_parse(const char *text, int64_t *id);

/* Is `text` a valid request id: 1 to 64 of [A-Za-z0-9_.:-]? */
bool ident_is_request_id(const char *text);

/* Write a new id for a request without one: a random UUID. */
void ident_make_request_id(char out[REQUEST_ID_MAX + 1]);

#endif /* APP_IDENT_H */
