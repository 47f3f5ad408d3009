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

/* The text from which the slot of the key is computed, of *len bytes. */
static const char *slot_text(const char *key, size_t *len)
{
    const char *open = strchr(key, '{');
    const char *close = open != NULL ? strchr(open + 1, '}') : NULL;
    bool has_tag = close != NULL && close > open + 1;

    *len = has_tag ? (size_t)(close - open - 1) : strlen(key);
    return has_tag ? open + 1 : key;
}

int redis_slot_of(const char *key)
{
    size_t len;
    const char *text = slot_text(key, &len);

    return (int)(crc16(text, len) % REDIS_SLOT_COUNT);
}

bool redis_slot_is_shared(const char *key, const char *other)
{
    size_t len, other_len;
    const char *text = slot_text(key, &len);
    const char *other_text = slot_text(other, &other_len);

    return len == other_len && memcmp(text, other_text, len) == 0;
}
