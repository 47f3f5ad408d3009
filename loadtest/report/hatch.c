/* SPDX-License-Identifier: MIT */
/* hatch.c -- hatched areas of a drawing, as lines under a clip.
 *
 * A pattern of SVG would be shorter.  Chromium prints each area that a turned pattern fills as a
 * picture of its own, and the report of one load became 7 MB of PDF. */
#include "loadtest/report/hatch.h"

enum { DISTANCE = 12 }; /* of two lines, along the horizontal axis */

void hatch_begin(FILE *out, const char *name)
{
    fprintf(out, "<clipPath id=\"%s\"><path d=\"", name);
}

void hatch_area(FILE *out, double x, double y, double width, double height)
{
    fprintf(out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, width, height, -width);
}

void hatch_end(FILE *out, const char *name, const char *class, const struct hatch_box *box)
{
    int height = box->bottom - box->top;

    fprintf(out, "\"/></clipPath><path class=\"%s\" clip-path=\"url(#%s)\" d=\"", class, name);
    for (int x = box->left - height; x < box->right; x += DISTANCE)
        fprintf(out, "M%d %dl%d %d", x, box->bottom, height, -height);
    for (int x = box->left - height; box->is_crossed && x < box->right; x += DISTANCE)
        fprintf(out, "M%d %dl%d %d", x, box->top, height, height);
    fputs("\"/>\n", out);
}
