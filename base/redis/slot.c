/* SPDX-License-Identifier: MIT */
/* slot.c -- computes the slot of a key in a Redis Cluster. */
#include "base/redis/slot.h"

#include <stddef.h>
#include <string.h>

/* The polynomial is x^16 + x^12 + x^5 + 1.  It has so few terms that the eight steps of
 * a byte can be replaced by three shifts.  The speed matters, because each lock
 * operation computes its slot several times. */
static unsigned crc16(const char *bytes, size_t len)
{
    unsigned crc = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned carried = crc >> 8 ^ (unsigned char)bytes[i];

        carried ^= carried >> 4;
        crc = (crc << 8 ^ carried << 12 ^ carried << 5 ^ carried) & 0xffffu;
    }
    return crc;
}

int redis_slot_of(const char *key)
{
    const char *open = strchr(key, '{');
    const char *close = open != NULL ? strchr(open + 1, '}') : NULL;

    if (close != NULL && close > open + 1)
        return (int)(crc16(open + 1, (size_t)(close - open - 1)) % REDIS_SLOT_COUNT);
    return (int)(crc16(key, strlen(key)) % REDIS_SLOT_COUNT);
}
