/* SPDX-License-Identifier: MIT */
/* number.c -- parses whole numbers, as stores write them, and bytes, as URLs write them. */
#include "base/os/number.h"

#include <ctype.h>
#include <stdlib.h>

bool dlock_number_read(const char *text, size_t len, int64_t least, int64_t most,
                       int64_t *out)
{
    bool is_negative = len > 0 && text[0] == '-';
    size_t first = is_negative ? 1 : 0;
    int64_t value = 0; /* kept negative, because INT64_MIN has no positive
                        * counterpart */

    if (first == len || (text[first] == '0' && len > 1))
        return false;
    for (size_t i = first; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, text[i] - '0', &value))
            return false;
    }
    if (!is_negative && __builtin_sub_overflow(0, value, &value))
        return false;
    if (value < least || value > most)
        return false;
    *out = value;
    return true;
}

int dlock_number_byte(const char **text, const char *end)
{
    const char *at = *text;

    if (*at != '%')
        return (unsigned char)*(*text)++;
    if (end - at < 3 || !isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]))
        return -1;
    *text += 3;
    return (int)strtol((const char[]){at[1], at[2], '\0'}, NULL, 16);
}
