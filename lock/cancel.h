/* SPDX-License-Identifier: MIT */
/* cancel.h -- has a wait been cancelled? */
#ifndef DLOCK_CANCEL_H
#define DLOCK_CANCEL_H

#include "lock/dlock.h"

/* Was the object fired?  NULL was never fired.  A hurry of the calling fiber
 * (base/os/fiber.h) counts as fired.  Any thread. */
bool dlock_cancel_is_fired(const dlock_cancel *cancel);

#endif /* DLOCK_CANCEL_H */
