/* SPDX-License-Identifier: MIT */
/* name.h -- which texts can be the name of a lock. */
#ifndef DLOCK_NAME_H
#define DLOCK_NAME_H

#include "lock/dlock.h"

/* OK, or INVALID if it is empty, over DLOCK_NAME_MAX bytes, or has control bytes. */
dlock_status dlock_name_check(const char *name);

#endif /* DLOCK_NAME_H */
