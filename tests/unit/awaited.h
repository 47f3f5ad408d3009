/* SPDX-License-Identifier: MIT */
/* awaited.h -- waits for a state, for at most PATIENCE_MS of the test. */
#ifndef TESTS_UNIT_AWAITED_H
#define TESTS_UNIT_AWAITED_H

#include <poll.h>

#include "base/os/clock.h"

#define assert_comes(state)                                                            \
    do {                                                                               \
        int64_t end_ns_ = dlock_clock_after(dlock_clock_ns(), PATIENCE_MS);            \
        while (!(state)) {                                                             \
            assert_true(dlock_clock_ns() < end_ns_);                                   \
            poll(NULL, 0, 1);                                                          \
        }                                                                              \
    } while (0)

#endif /* TESTS_UNIT_AWAITED_H */
