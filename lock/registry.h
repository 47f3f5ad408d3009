/* SPDX-License-Identifier: MIT */
/* registry.h -- the catalogue of variants, from which dlock_open() takes the
 * variant. */
#ifndef DLOCK_REGISTRY_H
#define DLOCK_REGISTRY_H

#include "lock/dlock_variant.h"

/* The variant of that name, NULL if there is none.  Static. */
const dlock_variant *dlock_registry_find(const char *name);

/* For tests: from now on this process uses `variant` instead of the catalogue's variant
 * of the same name; NULL: the catalogue alone.  The caller keeps `variant` alive.  No
 * other thread may use the library during the call. */
void dlock_registry_replace(const dlock_variant *variant);

#endif /* DLOCK_REGISTRY_H */
