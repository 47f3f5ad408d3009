/* SPDX-License-Identifier: MIT */
/* status.c -- the texts of every status, and the text of a thread's last failure. */
#include "lock/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/os/fiber.h"
#include "base/os/utf8.h"

static _Thread_local char error_text[DLOCK_ERROR_SIZE];

struct dlock_caller *dlock_caller_here(void)
{
    const struct dlock_fiber *fiber = dlock_fiber_here();

    return fiber != NULL ? fiber->local : NULL;
}

static char *text_here(void)
{
    struct dlock_caller *caller = dlock_caller_here();

    return caller != NULL ? caller->error_text : error_text;
}

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
    return text_here();
}

void dlock_error_clear(void)
{
    text_here()[0] = '\0';
}

void dlock_error_set(const char *text)
{
    (void)dlock_fail(DLOCK_OK, "%s", text);
}

/* Words of a store are in many reasons, and a program prints them. */
dlock_status dlock_fail(dlock_status st, const char *fmt, ...)
{
    char text[DLOCK_ERROR_SIZE]; /* the old reason may be a part of the new one */
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    utf8_show(text, text_here(), DLOCK_ERROR_SIZE);
    return st;
}
