/* SPDX-License-Identifier: MIT */
/* fiber.c -- the fiber that runs in this thread. */
#include "base/os/fiber.h"

_Thread_local struct dlock_fiber *dlock_fiber_current;
