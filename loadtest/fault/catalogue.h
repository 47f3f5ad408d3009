/* SPDX-License-Identifier: MIT */
/* catalogue.h -- the faults of servers, by number and by name. */
#ifndef LOADTEST_FAULT_CATALOGUE_H
#define LOADTEST_FAULT_CATALOGUE_H

#include "loadtest/fault/server_fault.h"

/* In the order of faults.def; NULL past the last, or if there is none of that name. */
const struct server_fault *server_fault_at(size_t i);
const struct server_fault *server_fault_find(const char *name);
const char *server_fault_name_at(size_t i);

#endif /* LOADTEST_FAULT_CATALOGUE_H */
