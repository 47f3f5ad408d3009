/* SPDX-License-Identifier: MIT */
/* asks_without_pause.c -- a waiter without back-off. */
#include "tests/conformance/wrong.h"

void wrong_asks_without_pause(dlock_variant *it)
{
    it->poll_max_ms = 1;
}
