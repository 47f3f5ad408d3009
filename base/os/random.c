/* SPDX-License-Identifier: MIT */
/* random.c -- getrandom(), a buffer at a time.
 *
 * A system call for each token would be too slow, so each thread draws the bytes of
 * many tokens at once.  A forked child drops the bytes that it inherited, because
 * parent and child must never use the same token. */
#include "base/os/random.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/os/fork.h"

/* Up to 256 bytes, a signal does not shorten the answer of getrandom(). */
enum { BUFFER_SIZE = 256, REQUEST_MAX = 64 };

static _Thread_local struct {
    unsigned char bytes[BUFFER_SIZE];
    size_t left;
    unsigned generation;
} drawn;

static void refill(void)
{
    dlock_fork_watch();
    while (getrandom(drawn.bytes, sizeof(drawn.bytes), 0) != (ssize_t)BUFFER_SIZE)
        if (errno != EINTR && errno != EAGAIN)
            abort(); /* without random bytes no token is unique, so no lock is safe */
    drawn.left = BUFFER_SIZE;
    drawn.generation = dlock_fork_generation();
}

void dlock_random_bytes(void *out, size_t byte_count)
{
    assert(byte_count <= REQUEST_MAX);
    if (drawn.left < byte_count || drawn.generation != dlock_fork_generation())
        refill();
    drawn.left -= byte_count;
    memcpy(out, drawn.bytes + drawn.left, byte_count);
}

void dlock_random_uuid(char out[DLOCK_UUID_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[16];
    char *at = out;

    dlock_random_bytes(bytes, sizeof(bytes));
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* the version */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* the variant of RFC 9562 */
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = digits[bytes[i] >> 4];
        *at++ = digits[bytes[i] & 0x0f];
    }
    *at = '\0';
}

uint32_t dlock_random_below(uint32_t bound)
{
    uint32_t number;

    dlock_random_bytes(&number, sizeof(number));
    return (uint32_t)((uint64_t)number * bound >> 32);
}
