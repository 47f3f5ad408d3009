/* SPDX-License-Identifier: MIT */
/* document.h -- the state of the sale as the JSON of GET /api/state; docs/reference/show.md has its
 * fields. */
#ifndef LOADTEST_SHOW_DOCUMENT_H
#define LOADTEST_SHOW_DOCUMENT_H

#include "loadtest/show/board.h"
#include "loadtest/show/lesson_progress.h"
#include "loadtest/show/sight.h"

enum { DOCUMENT_FORMAT = 1 };

struct document {
    const struct sight *sight;
    enum show_phase phase;
    const char *boot_id;
    int64_t seq, run_id, limit_ms;
    const struct lesson_progress *lesson;
};

/* The text, which the caller frees. */
char *document_make(const struct document *document);

#endif /* LOADTEST_SHOW_DOCUMENT_H */
