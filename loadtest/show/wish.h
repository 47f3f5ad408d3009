/* SPDX-License-Identifier: MIT */
/* wish.h -- the POST requests of a browser: their paths, and the wishes in their bodies.
 *
 * Threads     Any.
 */
#ifndef LOADTEST_SHOW_WISH_H
#define LOADTEST_SHOW_WISH_H

#include <jansson.h>

#include "loadtest/kit/why.h"
#include "loadtest/show/board.h"

/* Is this the path of a POST? */
bool wish_is_path(const char *path);

/* Read the object of a body of `size` bytes, which the caller releases.  NULL: *wrong says why,
 * a static text. */
json_t *wish_body(const char *text, size_t size, const char **wrong);

/* Read the wish of a POST to `path`, for which wish_is_path() is true.  wish->switches are the
 * settings of the sale that is there, and become those that are wished; wish->base keeps them.
 * NULL: the wish is complete.  Else the reason for which it is none, a static text or `why`. */
const char *wish_read(const char *path, const json_t *body, struct show_wish *wish,
                      char why[WHY_MAX]);

#endif /* LOADTEST_SHOW_WISH_H */
