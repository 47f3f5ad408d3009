/* SPDX-License-Identifier: MIT */
/* sale_types.c -- the names of the answers of a sale. */
#include "db/sale_types.h"

const char *sale_answer_name(enum sale_answer answer)
{
    static const char *const NAMES[] = {
#define X(id, name) name,
        SALE_ANSWERS(X)
#undef X
    };

    return NAMES[answer];
}
