/* SPDX-License-Identifier: MIT */
/* slot.c -- in which slot of a Redis Cluster a key is. */
#include "base/redis/slot.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { XMODEM = 0x1021 };

static uint16_t crc16(const char *bytes, size_t len)
{
    unsigned crc = 0;

    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000u) != 0 ? (crc << 1) ^ XMODEM : crc << 1;
        crc &= 0xffffu;
    }
    return (uint16_t)crc;
}

int redis_slot_of(const char *key)
{
    const char *open = strchr(key, '{');
    const char *close = open != NULL ? strchr(open + 1, '}') : NULL;

    if (close != NULL && close > open + 1)
        return crc16(open + 1, (size_t)(close - open - 1)) % REDIS_SLOT_COUNT;
    return crc16(key, strlen(key)) % REDIS_SLOT_COUNT;
}
