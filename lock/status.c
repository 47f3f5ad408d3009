/* SPDX-License-Identifier: MIT */
/* status.c -- the texts of every status, and the text of a thread's last failure. */
#include "lock/status.h"

#include <stdarg.h>
#include <stdio.h>

enum { ERROR_TEXT_SIZE = 320 };

static _Thread_local char error_text[ERROR_TEXT_SIZE];

const char *dlock_status_id(dlock_status st)
{
    switch (st) {
#define X(name, value, id, text)                                                       \
    case DLOCK_##name:                                                                 \
        return id;
        DLOCK_STATUS_MAP(X)
#undef X
    }
    return "?";
}

const char *dlock_status_text(dlock_status st)
{
    switch (st) {
#define X(name, value, id, text)                                                       \
    case DLOCK_##name:                                                                 \
        return text;
        DLOCK_STATUS_MAP(X)
#undef X
    }
    return "not a status of this library";
}

const char *dlock_error(void)
{
    return error_text;
}

void dlock_error_clear(void)
{
    error_text[0] = '\0';
}

dlock_status dlock_fail(dlock_status st, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(error_text, sizeof(error_text), fmt, args);
    va_end(args);
    return st;
}
