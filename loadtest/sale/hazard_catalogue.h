/* SPDX-License-Identifier: MIT */
/* hazard_catalogue.h -- the hazards, by number and by name. */
#ifndef LOADTEST_SALE_HAZARD_CATALOGUE_H
#define LOADTEST_SALE_HAZARD_CATALOGUE_H

#include "loadtest/sale/hazard.h"

/* The hazards as hazard_calm and so on, to compare pointers instead of names. */
#define HAZARD(file) extern const struct hazard hazard_##file;
#include "loadtest/sale/hazards.def"
#undef HAZARD

/* In the order of hazards.def; NULL past the last, or if there is none of that name. */
const struct hazard *hazard_at(size_t i);
const struct hazard *hazard_find(const char *name);
const char *hazard_name_at(size_t i);

#endif /* LOADTEST_SALE_HAZARD_CATALOGUE_H */
