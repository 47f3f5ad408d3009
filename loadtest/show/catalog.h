/* SPDX-License-Identifier: MIT */
/* catalog.h -- the choices of the page, as the JSON of GET /api/catalog. */
#ifndef LOADTEST_SHOW_CATALOG_H
#define LOADTEST_SHOW_CATALOG_H

#include "loadtest/lab/lab.h"

/* The text, which the caller frees. */
char *catalog_make(lab_topologies has);

#endif /* LOADTEST_SHOW_CATALOG_H */
