/* SPDX-License-Identifier: MIT */
/* crc32c.c -- CRC-32C by the processor's instruction, or else by a table.
 *
 * The instruction takes three cycles, and one can be started each cycle, so four parts
 * are computed at a time. */
#include "lock/record/crc32c.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>

#include "base/os/once.h"
#endif

enum { WORD = 8, LANES = 4, WORDS = DLOCK_CRC32C_PART / WORD };

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */

static uint32_t table[WORD][256];
static bool has_instruction;
static struct dlock_once once = DLOCK_ONCE_INITIALIZER;

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int byte = 1; byte < WORD; byte++)
            table[byte][i] = (table[byte - 1][i] >> 8) ^
                             table[0][table[byte - 1][i] & 0xff];
#if defined(__x86_64__)
    has_instruction = __builtin_cpu_supports("sse4.2");
#endif
}

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

static uint32_t add_byte(uint32_t crc, unsigned char byte)
{
    return (crc >> 8) ^ table[0][(crc ^ byte) & 0xff];
}

static uint32_t by_table(uint32_t crc, const unsigned char *bytes, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; size >= WORD; bytes += WORD, size -= WORD) {
        uint64_t word = word_at(bytes) ^ crc;

        crc = 0;
        for (int i = 0; i < WORD; i++)
            crc ^= table[WORD - 1 - i][word >> 8 * i & 0xff];
    }
#endif
    for (; size > 0; bytes++, size--)
        crc = add_byte(crc, *bytes);
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t crc, const unsigned char *bytes, size_t size)
{
    uint64_t wide = crc;

    for (; size >= WORD; bytes += WORD, size -= WORD)
        wide = _mm_crc32_u64(wide, word_at(bytes));
    for (crc = (uint32_t)wide; size > 0; bytes++, size--)
        crc = _mm_crc32_u8(crc, *bytes);
    return crc;
}

__attribute__((target("sse4.2"))) static void four_parts(const unsigned char *bytes,
                                                         uint32_t out[LANES])
{
    uint64_t crc[LANES] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

    for (int i = 0; i < WORDS; i++, bytes += WORD)
        for (int lane = 0; lane < LANES; lane++)
            crc[lane] = _mm_crc32_u64(crc[lane],
                                      word_at(bytes + lane * DLOCK_CRC32C_PART));
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = ~(uint32_t)crc[lane];
}
#endif

uint32_t dlock_crc32c(const void *bytes, size_t size)
{
    dlock_once_run(&once, make_table);
#if defined(__x86_64__)
    if (has_instruction)
        return ~by_instruction(UINT32_MAX, bytes, size);
#endif
    return ~by_table(UINT32_MAX, bytes, size);
}

void dlock_crc32c_parts(const void *parts, size_t count, uint32_t *out)
{
    const unsigned char *bytes = parts;
    size_t at = 0;

    dlock_once_run(&once, make_table);
#if defined(__x86_64__)
    if (has_instruction && count >= LANES) {
        for (; count - at >= LANES; at += LANES)
            four_parts(bytes + at * DLOCK_CRC32C_PART, out + at);
        /* Computing the last four again takes less time than computing the rest one by
         * one. */
        if (at < count)
            four_parts(bytes + (count - LANES) * DLOCK_CRC32C_PART, out + count - LANES);
        at = count;
    }
#endif
    for (; at < count; at++)
        out[at] = dlock_crc32c(bytes + at * DLOCK_CRC32C_PART, DLOCK_CRC32C_PART);
}
