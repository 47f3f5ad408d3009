/* SPDX-License-Identifier: MIT */
/* ident.c -- reads and makes the numbers and names of things. */
#include "app/ident.h"

#include <stdlib.h>
#include <string.h>
#include <uuid/uuid.h>

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

/* The random bytes of one UUID.  uuid_generate_random() seeds random() anew for each, which
 * was a twentieth of the work of a request that is refused; here the kernel is asked once
 * for many. */
static void take_random_bytes(uuid_t out)
{
    enum { KEPT = 32 };
    static _Thread_local uuid_t kept[KEPT];
    static _Thread_local size_t left;

    if (left == 0) {
        arc4random_buf(kept, sizeof(kept));
        left = KEPT;
    }
    memcpy(out, kept[--left], sizeof(uuid_t));
}

/* Version 4 and the variant of RFC 9562, section 5.4. */
void ident_make_request_id(char out[REQUEST_ID_MAX + 1])
{
    uuid_t uuid;

    take_random_bytes(uuid);
    uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
    uuid_unparse_lower(uuid, out);
}
