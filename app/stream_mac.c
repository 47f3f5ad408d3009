/* SPDX-License-Identifier: MIT */
/* stream_mac.c -- computes the MAC of an entry of the stream. */
#include "app/stream_mac.h"

#include <stdio.h>
#include <string.h>

#include "app/config.h"

bool stream_mac_derive(const struct token_key *token, const char *name, struct token_key *out)
{
    char purpose[CONFIG_STREAM_MAX + 20];

    (void)snprintf(purpose, sizeof(purpose), "seckilld stream %s", name);
    return token_mac(token, purpose, strlen(purpose), out->bytes);
}

bool stream_mac_write(const struct token_key *key, const char *text, size_t len,
                      char out[STREAM_MAC_LEN + 1])
{
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char mac[TOKEN_KEY_BYTES];

    if (!token_mac(key, text, len, mac))
        return false;
    for (size_t i = 0; i < STREAM_MAC_LEN; i++)
        out[i] = DIGITS[i % 2 == 0 ? mac[i / 2] >> 4 : mac[i / 2] & 15];
    out[STREAM_MAC_LEN] = '\0';
    return true;
}
