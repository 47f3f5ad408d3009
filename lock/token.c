/* SPDX-License-Identifier: MIT */
/* token.c -- 128 random bits in hex. */
#include "lock/token.h"

#include "base/os/random.h"

void dlock_token_make(char out[DLOCK_TOKEN_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[DLOCK_TOKEN_LEN / 2];

    dlock_random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[DLOCK_TOKEN_LEN] = '\0';
}
