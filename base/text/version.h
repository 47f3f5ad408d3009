/* SPDX-License-Identifier: MIT */
/* version.h -- the one place that says which version this is. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SECKILL_VERSION "0.1.0"

/* The number after .so changes when programs that use the library have to be built anew. */
#define SECKILL_LIBRARY "libdlock.so.1"

#endif /* BASE_VERSION_H */
