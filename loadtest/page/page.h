/* SPDX-License-Identifier: MIT */
/* page.h -- the timeline of a run as one HTML file, which needs no network and no other file.
 * Its script steps through the events; the page can be read without it.
 *
 * Each violation has a figure: a lane for each owner, its holds as bars, its calls, the faults,
 * and the window, with the two holders named.  A history without a violation has one figure: the
 * first calls of the lock that was called most.  Calls that are too many for a figure are left
 * out, and the page says how many.
 *
 * A lock's name and a process's uuid are shown as text, with any bytes in them.
 */
#ifndef LOADTEST_PAGE_PAGE_H
#define LOADTEST_PAGE_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "loadtest/check/check.h"
#include "loadtest/page/scene.h"

/* Print the page on `out`.  `c` is the checker that gave the verdict, and still has its holds. */
void page_print(FILE *out, const struct history *h, const struct check *c,
                const struct check_verdict *v);

/* The page in a file, which is replaced as a whole or not at all.  False, with a line
 * on stderr: it could not be written. */
bool page_write(const char *path, const struct history *h, const struct check *c,
                const struct check_verdict *v);

/* Close a page that was printed into memory by open_memstream(), put it into a file,
 * which is replaced as a whole or not at all, and free *text.  False: it could not be
 * written, and a line on stderr, which begins with `command`, says why.  The program
 * ends with EXIT_BUG if there is no memory. */
bool page_keep(FILE *out, char **text, const char *path, const char *command);

/* Print the piece of a file of loadtest/page between two marks; NULL: from its
 * beginning, to its end. */
void page_piece(FILE *out, const char *file, const char *from, const char *to);

/* The key to the figures, before the first of them; and a figure, which ends the section that
 * it stands in. */
void page_key(FILE *out);
void page_figure(FILE *out, const struct page_scene *s);
/* Print the facts of a figure: the owners that it shows, and the window. */
void page_holders(FILE *out, const struct page_scene *s);
void page_window(FILE *out, const struct page_scene *s);

#endif /* LOADTEST_PAGE_PAGE_H */
