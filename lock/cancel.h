/* SPDX-License-Identifier: MIT */
/* cancel.h -- has a wait been cancelled? */
#ifndef DLOCK_CANCEL_H
#define DLOCK_CANCEL_H

#include "lock/dlock.h"

/* NULL is never fired.  A hurry (base/os/fiber.h) of the calling fiber is like a cancel that
 * was fired. */
bool dlock_cancel_is_fired(const dlock_cancel *cancel);

#endif /* DLOCK_CANCEL_H */
