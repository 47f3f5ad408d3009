/* SPDX-License-Identifier: MIT */
/* names.c -- the names of events and assumptions. */
#include "lock/record/recorder.h"

#define UNKNOWN_NAME "?"

const char *dlock_event_name(int kind)
{
    switch (kind) {
#define X(id, value, name, text)                                                       \
    case value:                                                                        \
        return name;
        DLOCK_EVENTS(X)
#undef X
    }
    return UNKNOWN_NAME;
}

const char *dlock_assumption_name(int assumption)
{
    switch (assumption) {
#define X(id, value, name, text)                                                       \
    case value:                                                                        \
        return name;
        DLOCK_ASSUMPTIONS(X)
#undef X
    }
    return UNKNOWN_NAME;
}

const char *dlock_assumption_text(int assumption)
{
    switch (assumption) {
#define X(id, value, name, text)                                                       \
    case value:                                                                        \
        return text;
        DLOCK_ASSUMPTIONS(X)
#undef X
    }
    return UNKNOWN_NAME;
}
