/* SPDX-License-Identifier: MIT */
/* refusal.c -- looks an error of a server up in refusals.def. */
#include "base/os/refusal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct refusal_row {
    enum refusal_store store;
    const char *code;
    enum refusal meaning;
} ROWS[] = {
#define REFUSAL(store, code, meaning) {REFUSAL_##store, code, REFUSAL_##meaning},
#include "base/os/refusals.def"
#undef REFUSAL
};

enum { ROW_COUNT = sizeof(ROWS) / sizeof(ROWS[0]) };

enum refusal refusal_of_text(enum refusal_store store, const char *text)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].store == store &&
            strncmp(text, ROWS[i].code, strlen(ROWS[i].code)) == 0)
            return ROWS[i].meaning;
    return REFUSAL_LASTS;
}

enum refusal refusal_of_number(enum refusal_store store, int64_t number)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].store == store && strtol(ROWS[i].code, NULL, 10) == number)
            return ROWS[i].meaning;
    return REFUSAL_LASTS;
}
