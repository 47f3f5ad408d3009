/* SPDX-License-Identifier: MIT */
/* crc32c.h -- the checksum CRC-32C (Castagnoli), for which processors have an
 * instruction: polynomial 0x1edc6f41, reflected, inverted before and after.
 *
 * Threads     Any. */
#ifndef DLOCK_CRC32C_H
#define DLOCK_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `size` bytes. */
uint32_t dlock_crc32c(const void *bytes, size_t size);

enum { DLOCK_CRC32C_PART = 128 };

/* The checksums of `count` parts of DLOCK_CRC32C_PART bytes that lie one after another.
 * Each part gets a checksum of its own in *out.  Several parts take hardly longer than
 * one, because the processor computes them in parallel. */
void dlock_crc32c_parts(const void *parts, size_t count, uint32_t *out);

#endif /* DLOCK_CRC32C_H */
