/* SPDX-License-Identifier: MIT */
/* seal.c -- seals blocks: when the thread needs the next block, and again when the file
 * is closed.  So most calls compute no checksum. */
#include "lock/record/seal.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include "base/os/once.h"
#include "lock/dlock.h"

/* ---- CRC-32C (Castagnoli): polynomial 0x1edc6f41, reflected, inverted before and after ----
 *
 * Processors have an instruction for it.  It takes three cycles, and one can be started each cycle,
 * so four slots are computed at a time. */

enum { PART = DLOCK_RECORD_SIZE, WORD = 8, LANES = 4, WORDS = PART / WORD };

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */

static uint32_t table[WORD][256];
#if defined(__x86_64__)
static bool has_instruction;
#endif
static struct dlock_once crc32c_once = DLOCK_ONCE_INITIALIZER;

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
                                      word_at(bytes + lane * PART));
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = ~(uint32_t)crc[lane];
}
#endif

/* The checksum of `size` bytes. */
static uint32_t crc32c(const void *bytes, size_t size)
{
    dlock_once_run(&crc32c_once, make_table);
#if defined(__x86_64__)
    if (has_instruction)
        return ~by_instruction(UINT32_MAX, bytes, size);
#endif
    return ~by_table(UINT32_MAX, bytes, size);
}

/* The checksums of `count` slots that lie one after another, each of its own. */
static void crc32c_parts(const void *parts, size_t count, uint32_t *out)
{
    const unsigned char *bytes = parts;
    size_t at = 0;

    dlock_once_run(&crc32c_once, make_table);
#if defined(__x86_64__)
    if (has_instruction && count >= LANES) {
        for (; count - at >= LANES; at += LANES)
            four_parts(bytes + at * PART, out + at);
        /* Computing the last four again takes less time than computing the rest one by
         * one. */
        if (at < count)
            four_parts(bytes + (count - LANES) * PART, out + count - LANES);
        at = count;
    }
#endif
    for (; at < count; at++)
        out[at] = crc32c(bytes + at * PART, PART);
}

/* ---- blocks ---- */

static uint64_t place_of(uint64_t block)
{
    return block * DLOCK_RECORD_BLOCK_SLOTS + DLOCK_RECORD_BLOCK_RECORDS;
}

void dlock_record_seal_open(dlock_record *slots, uint64_t block, uint32_t thread)
{
    dlock_record_seal *seal = dlock_record_seal_of(slots, block);

    seal->thread = thread;
    atomic_store_explicit(&seal->commit, DLOCK_RECORD_OPENED + place_of(block),
                          memory_order_release);
}

/* Will this record be written to again? */
static bool is_open(const dlock_record *record, uint64_t at)
{
    uint64_t stage = atomic_load_explicit(&record->commit, memory_order_acquire) - at;

    if (stage == DLOCK_RECORD_DONE)
        return record->kind == DLOCK_EVENT_ACQUIRE && record->status == DLOCK_OK;
    return stage == DLOCK_RECORD_BEGUN || stage == DLOCK_RECORD_RELEASING;
}

static uint32_t find_open(const dlock_record *slots, uint64_t block, unsigned used)
{
    uint64_t at = block * DLOCK_RECORD_BLOCK_SLOTS;
    uint32_t open = 0;

    for (unsigned i = 0; i < used; i++)
        if (is_open(&slots[at + i], at + i))
            open |= UINT32_C(1) << i;
    return open;
}

/* Compute the checksum of each slot, and then that of these checksums and the other
 * fields of the seal.  Open slots may be written to meanwhile, and are left out. */
static uint32_t sum_of(const dlock_record *slots, uint64_t block, unsigned used,
                       uint32_t open, uint32_t thread)
{
    struct {
        uint32_t parts[DLOCK_RECORD_BLOCK_RECORDS];
        uint32_t used, open, thread;
        uint64_t block;
    } sums = {.used = used, .open = open, .thread = thread, .block = block};
    const dlock_record *first = &slots[block * DLOCK_RECORD_BLOCK_SLOTS];
    unsigned at = 0, end;

    static_assert(sizeof(sums) == (DLOCK_RECORD_BLOCK_RECORDS + 3) * sizeof(uint32_t) +
                                      sizeof(uint64_t),
                  "nothing between");

    while (at < used) {
        if (open >> at & 1) {
            at++;
            continue;
        }
        for (end = at + 1; end < used && !(open >> end & 1); end++)
            ;
        crc32c_parts(&first[at], end - at, &sums.parts[at]);
        at = end;
    }
    return crc32c(&sums, sizeof(sums));
}

void dlock_record_seal_close(dlock_record *slots, uint64_t block, unsigned used,
                             bool is_last)
{
    dlock_record_seal *seal = dlock_record_seal_of(slots, block);
    uint32_t open = is_last ? 0 : find_open(slots, block, used);

    /* A process that is killed in between leaves an open block. */
    atomic_store_explicit(&seal->commit, DLOCK_RECORD_OPENED + place_of(block),
                          memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    seal->used = used;
    seal->open = open;
    seal->checksum = sum_of(slots, block, used, open, seal->thread);
    atomic_store_explicit(&seal->commit, DLOCK_RECORD_SEALED + place_of(block),
                          memory_order_release);
}

static unsigned count_used(const dlock_record *slots, uint64_t block)
{
    const dlock_record *first = &slots[block * DLOCK_RECORD_BLOCK_SLOTS];
    unsigned used = DLOCK_RECORD_BLOCK_RECORDS;

    while (used > 0 && first[used - 1].commit == 0)
        used--;
    return used;
}

uint64_t dlock_record_seal_all(dlock_record *slots, uint64_t blocks)
{
    uint64_t records = 0;

    for (uint64_t block = 0; block < blocks; block++) {
        const dlock_record_seal *seal = dlock_record_seal_of(slots, block);

        if (seal->commit != DLOCK_RECORD_SEALED + place_of(block) || seal->open != 0)
            dlock_record_seal_close(slots, block, count_used(slots, block), true);
        records += seal->used;
    }
    return records;
}

uint32_t dlock_record_seal_sum(const dlock_record *slots, uint64_t block)
{
    const dlock_record_seal *seal = dlock_record_seal_of(slots, block);
    unsigned used = seal->used;

    if (used > DLOCK_RECORD_BLOCK_RECORDS)
        return ~seal->checksum;
    return sum_of(slots, block, used, seal->open, seal->thread);
}

uint32_t dlock_record_head_sum(const dlock_record_header *header)
{
    return crc32c(header, offsetof(dlock_record_header, blocks));
}

uint32_t dlock_record_close_sum(const dlock_record_header *header)
{
    return crc32c(header, offsetof(dlock_record_header, close_checksum));
}
