/* SPDX-License-Identifier: MIT */
/* ident.h -- numbers and names that come from outside. */
#ifndef APP_IDENT_H
#define APP_IDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REQUEST_ID_MAX = 64 };

/* Read a number that stands for a thing: digits only, 1 to 2^63 - 1, no leading zero.
 * NULL: *id is set; otherwise what is wrong with it, as a sentence. */
const char *ident_parse(const char *text, int64_t *id);

/* May this be a request's name: 1 to 64 of [A-Za-z0-9_.:-]? */
bool ident_is_request_id(const char *text);

/* Write a new name for a request that brought none: a random UUID. */
void ident_make_request_id(char out[REQUEST_ID_MAX + 1]);

#endif /* APP_IDENT_H */
