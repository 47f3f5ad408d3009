/* SPDX-License-Identifier: MIT */
/* crc32c.h -- the checksum of Castagnoli, which processors compute: of polynomial
 * 0x1edc6f41, reflected, inverted at both ends.
 *
 * Threads     Any. */
#ifndef DLOCK_CRC32C_H
#define DLOCK_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `size` bytes. */
uint32_t dlock_crc32c(const void *bytes, size_t size);

enum { DLOCK_CRC32C_PART = 128 };

/* The checksums of `count` parts of DLOCK_CRC32C_PART bytes, one after the other, each of
 * its own: several at once take hardly longer than one. */
void dlock_crc32c_parts(const void *parts, size_t count, uint32_t *out);

#endif /* DLOCK_CRC32C_H */
