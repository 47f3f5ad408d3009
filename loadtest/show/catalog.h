/* SPDX-License-Identifier: MIT */
/* catalog.h -- what the page can choose from, as the JSON of GET /api/catalog. */
#ifndef LOADTEST_SHOW_CATALOG_H
#define LOADTEST_SHOW_CATALOG_H

#include <stdbool.h>

/* The text, which the caller frees. */
char *catalog_make(bool has_zookeeper);

#endif /* LOADTEST_SHOW_CATALOG_H */
