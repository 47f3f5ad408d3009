/* SPDX-License-Identifier: MIT */
/* voucher_json.h -- vouchers as JSON, with the names that course projects use. */
#ifndef APP_VOUCHER_JSON_H
#define APP_VOUCHER_JSON_H

#include "base/text/text.h"
#include "db/voucher.h"

/* A voucher that was read from JSON, and the memory that its texts point into. */
struct voucher_draft {
    struct voucher voucher;
    void *json;
    char wrong[240]; /* what is wrong with it, as a sentence */
};

/* Read a voucher from `len` bytes of JSON.  Every field is checked.  Unknown fields,
 * and more than 4 levels of nesting, are refused.  False: draft->wrong says why.  The
 * caller calls voucher_draft_free() in both cases. */
bool voucher_draft_read(struct voucher_draft *draft, const char *json, size_t len);
void voucher_draft_free(struct voucher_draft *draft);

/* Read an instant such as 2026-01-31T18:00:00, with an optional fraction and an
 * optional Z or +HH:MM; without these it is UTC.  *us is in microseconds since 1970;
 * digits of the fraction after the sixth are ignored.  False: the text is malformed, or
 * the instant is before the year 1900 or after the year 9999 in UTC. */
bool voucher_read_instant(const char *text, int64_t *us);

/* Write a voucher; its id is a text if `id_as_text`. */
void voucher_write(struct text *out, const struct voucher *voucher, bool id_as_text);

#endif /* APP_VOUCHER_JSON_H */
