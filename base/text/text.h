/* SPDX-License-Identifier: MIT */
/* text.h -- a text that grows as it is written.
 *
 * Without memory the text becomes `broken`, and later calls do nothing.  So only the
 * reader of the finished text has to check `broken`.
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

/* Free the memory; the text is then empty. */
void text_free(struct text *text);
/* Make the text empty, and keep its memory. */
void text_clear(struct text *text);
/* Make the text empty, and free its memory if that is more than `kept_bytes`. */
void text_shrink(struct text *text, size_t kept_bytes);
/* Append, in the form of printf(). */
void text_add(struct text *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Cut the text to its first `len` bytes. */
void text_cut(struct text *text, size_t len);
/* A JSON string, with its quotes; NULL becomes null. */
void text_add_json(struct text *text, const char *value);

#endif /* BASE_TEXT_H */
