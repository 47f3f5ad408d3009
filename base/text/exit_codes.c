/* SPDX-License-Identifier: MIT */
/* exit_codes.c -- looks exit statuses up in the one list. */
#include "base/text/exit_codes.h"

static const struct exit_row ROWS[] = {
#define X(id, code, name, text) {EXIT_##id, name, text},
    EXIT_CODES(X)
#undef X
};

const struct exit_row *exit_at(size_t i)
{
    return i < sizeof(ROWS) / sizeof(ROWS[0]) ? &ROWS[i] : NULL;
}

const struct exit_row *exit_find(int code)
{
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        if ((int)ROWS[i].code == code)
            return &ROWS[i];
    return NULL;
}

const char *exit_says(const struct exit_meaning *meaning)
{
    return meaning->says != NULL ? meaning->says : exit_find((int)meaning->code)->says;
}
