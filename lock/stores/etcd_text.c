/* SPDX-License-Identifier: MIT */
/* etcd_text.c -- base64, keys and numbers, as etcd's JSON writes them. */
#include "lock/stores/etcd_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

enum { BYTES_PER_VALUE = 12, VALUES_SPARE = 1024 };

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void etcd_base64(char *out, const void *bytes, size_t len)
{
    const unsigned char *in = bytes;

    for (size_t i = 0; i < len; i += 3) {
        unsigned three = (unsigned)in[i] << 16 | (i + 1 < len ? (unsigned)in[i + 1] << 8 : 0) |
                         (i + 2 < len ? in[i + 2] : 0);

        *out++ = DIGITS[three >> 18];
        *out++ = DIGITS[three >> 12 & 63];
        *out++ = i + 1 < len ? DIGITS[three >> 6 & 63] : '=';
        *out++ = i + 2 < len ? DIGITS[three & 63] : '=';
    }
    *out = '\0';
}

/* The value of a base64 digit; -1: the byte is none. */
static int value_of(char digit)
{
    const char *found = digit != '\0' ? strchr(DIGITS, digit) : NULL;

    return found != NULL ? (int)(found - DIGITS) : -1;
}

bool etcd_base64_read(const char *text, void *out, size_t size, size_t *len)
{
    size_t digit_count = strcspn(text, "=");
    size_t text_len = strlen(text);
    unsigned char *to = out;
    unsigned bits = 0, held = 0;

    *len = 0;
    if (text_len % 4 != 0 || text_len - digit_count > 2 ||
        strspn(text + digit_count, "=") != text_len - digit_count)
        return false;
    for (size_t i = 0; i < digit_count; i++) {
        int value = value_of(text[i]);

        if (value < 0)
            return false;
        held = held << 6 | (unsigned)value;
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        if (*len == size)
            return false;
        to[(*len)++] = (unsigned char)(held >> bits & 255);
    }
    return true;
}

struct etcd_range etcd_range_of(const char *name)
{
    char text[DLOCK_NAME_MAX + 2];
    struct etcd_range range;
    int len = snprintf(text, sizeof(text), "%s/", name);

    etcd_base64(range.from, text, (size_t)len);
    text[len - 1] = '/' + 1;
    etcd_base64(range.to, text, (size_t)len);
    return range;
}

void etcd_key_of(char out[ETCD_KEY_SIZE], const char *name, uint64_t lease)
{
    char text[ETCD_KEY_MAX + 1];
    int len = snprintf(text, sizeof(text), "%s/%" PRIx64, name, lease);

    etcd_base64(out, text, (size_t)len);
}

bool etcd_key_read(const char *key, const char *name, uint64_t *lease)
{
    static const char HEX[] = "0123456789abcdef";
    char text[ETCD_KEY_MAX + 1];
    size_t name_len = strlen(name), len;
    const char *digits = text + name_len + 1;

    if (!etcd_base64_read(key, text, ETCD_KEY_MAX, &len) || len <= name_len + 1)
        return false;
    text[len] = '\0';
    if (strlen(text) != len || memcmp(text, name, name_len) != 0 || text[name_len] != '/' ||
        digits[0] == '0' || len - name_len - 1 > ETCD_LEASE_DIGITS_MAX)
        return false;
    *lease = 0;
    for (; *digits != '\0'; digits++) {
        const char *digit = strchr(HEX, *digits);

        if (digit == NULL)
            return false;
        *lease = *lease << 4 | (uint64_t)(digit - HEX);
    }
    return *lease <= INT64_MAX;
}

bool etcd_number(const json_t *object, const char *field, int64_t least, int64_t *out)
{
    const json_t *value = json_object_get(object, field);

    *out = 0;
    if (value == NULL)
        return true;
    return json_is_string(value) &&
           dlock_number_read(json_string_value(value), json_string_length(value), least,
                             INT64_MAX, out);
}

json_t *etcd_json_read(const char *bytes, size_t len, json_error_t *end)
{
    size_t value_count = 0;

    for (size_t i = 0; i < len; i++)
        value_count += bytes[i] == '{' || bytes[i] == '[' || bytes[i] == ',';
    if (value_count > len / BYTES_PER_VALUE + VALUES_SPARE)
        return NULL;
    return json_loadb(bytes, len,
                      JSON_REJECT_DUPLICATES | (end != NULL ? JSON_DISABLE_EOF_CHECK : 0), end);
}
