/* SPDX-License-Identifier: MIT */
/* version.h -- the one place that says which version this is. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SECKILL_VERSION "0.1.0"

#endif /* BASE_VERSION_H */
