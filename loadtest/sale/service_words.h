/* SPDX-License-Identifier: MIT */
/* service_words.h -- inside: the command line of a seckilld process. */
#ifndef LOADTEST_SALE_SERVICE_WORDS_H
#define LOADTEST_SALE_SERVICE_WORDS_H

#include "loadtest/sale/service.h"

enum { SERVICE_WORDS_MAX = 48 };

/* argv points into the struct itself and into the plan, and ends with NULL. */
struct service_words {
    char program[FILES_PATH_MAX], record[FILES_PATH_MAX];
    char workers[32], database[48], process[32];
    const char *argv[SERVICE_WORDS_MAX + 2]; /* there is room for a word more           */
};

/* The words of the process number `index`, from 0.  The plan must outlive *w, which must not be
 * copied. */
void service_words_make(struct service_words *w, const struct service_plan *plan, int index);

#endif /* LOADTEST_SALE_SERVICE_WORDS_H */
