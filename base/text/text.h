/* SPDX-License-Identifier: MIT */
/* text.h -- a text that grows as it is written.
 *
 * Running out of memory makes it `broken` and everything after that a no-op, so that
 * only the reader of the finished text has to look.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is an empty text. */
struct text {
    char *bytes; /* NUL-terminated once anything was written */
    size_t len;
    size_t capacity;
    bool broken;
};

void text_free(struct text *text);
/* Start again, keeping the memory. */
void text_clear(struct text *text);
/* The same, giving the memory back if it is more than `kept_bytes`. */
void text_shrink(struct text *text, size_t kept_bytes);
void text_add(struct text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Make it end after `len` bytes of those that it has. */
void text_cut(struct text *text, size_t len);
/* A JSON string, with its quotes; NULL becomes null. */
void text_add_json(struct text *text, const char *value);

#endif /* BASE_TEXT_H */
