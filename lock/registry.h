/* SPDX-License-Identifier: MIT */
/* registry.h -- the catalogue of variants, as systems are opened by it. */
#ifndef DLOCK_REGISTRY_H
#define DLOCK_REGISTRY_H

#include "lock/dlock_variant.h"

/* The variant of that name, NULL if there is none.  Static. */
const dlock_variant *dlock_registry_find(const char *name);

/* For tests: from now on, in this process, `variant` stands in for the one of its name; NULL:
 * none does any more.  The caller lends `variant`.  Not while other threads use the library. */
void dlock_registry_replace(const dlock_variant *variant);

#endif /* DLOCK_REGISTRY_H */
