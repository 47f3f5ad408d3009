/* SPDX-License-Identifier: MIT */
/* hatch.h -- hatched areas of a drawing, which stay lines when a browser prints the page.
 *
 * hatch_begin(), hatch_area() for each area, hatch_end(); nothing else is printed between them.
 *
 * Threads     Any; nothing here is shared.
 */
#ifndef LOADTEST_REPORT_HATCH_H
#define LOADTEST_REPORT_HATCH_H

#include <stdbool.h>
#include <stdio.h>

/* The part of a drawing in which the areas are, in the drawing's units. */
struct hatch_box {
    int left, top, right, bottom;
    bool is_crossed; /* lines in two directions                                        */
};

/* Begin the areas that are called `name`, which no other hatch of the page is called and which
 * an attribute can hold as it is. */
void hatch_begin(FILE *out, const char *name);

/* Add an area. */
void hatch_area(FILE *out, double x, double y, double width, double height);

/* Draw the lines of all areas, with the style of `class`. */
void hatch_end(FILE *out, const char *name, const char *class, const struct hatch_box *box);

#endif /* LOADTEST_REPORT_HATCH_H */
