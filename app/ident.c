/* SPDX-License-Identifier: MIT */
/* ident.c -- parses the numbers and request ids of clients. */
#include "app/ident.h"

#include <assert.h>
#include <string.h>

#include "base/os/random.h"

const char *ident_parse(const char *text, int64_t *id)
{
    int64_t value = 0;

    if (text[0] == '\0')
        return "a number is missing";
    if (text[0] == '-' && text[1] >= '0' && text[1] <= '9')
        return "the number is negative";
    for (const char *p = text; *p != '\0'; p++)
        if (*p < '0' || *p > '9')
            return "not a number";
    if (text[0] == '0')
        return text[1] == '\0' ? "the number must be at least 1"
                               : "the number has leading zeros";
    for (const char *p = text; *p != '\0'; p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p - '0', &value))
            return "the number is too large";
    *id = value;
    return NULL;
}

bool ident_is_request_id(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789_.:-");

    return n >= 1 && n <= REQUEST_ID_MAX && text[n] == '\0';
}

void ident_make_request_id(char out[REQUEST_ID_MAX + 1])
{
    static_assert((int)REQUEST_ID_MAX >= (int)DLOCK_UUID_LEN, "a UUID is a request's name");

    dlock_random_uuid(out);
}
