/* SPDX-License-Identifier: MIT */
/* matrix.h -- the matrix as one HTML file. */
#ifndef LOADTEST_PAGE_MATRIX_H
#define LOADTEST_PAGE_MATRIX_H

#include "loadtest/matrix/matrix.h"

/* Write matrix.html into the directory of a matrix.  False: the reason is on stderr. */
bool matrix_write_page(const struct matrix *m);

#endif /* LOADTEST_PAGE_MATRIX_H */
