/* SPDX-License-Identifier: MIT */
/* lesson_wish.h -- reads the wishes of a browser about lessons, and refuses invalid wishes. */
#ifndef LOADTEST_SHOW_LESSON_WISH_H
#define LOADTEST_SHOW_LESSON_WISH_H

#include "loadtest/show/board.h"
#include "loadtest/show/lesson_progress.h"

/* Complete a wish, whose kind is set, from the body of its POST.  Kinds that are not of
 * the lessons need nothing more.  NULL: it is complete; else why the body is wrong. */
const char *lesson_wish_read(const json_t *body, struct show_wish *wish);

/* The reason for which the wish cannot be carried out now. */
struct show_refusal lesson_wish_refuses(const struct lesson_progress *progress,
                                        const struct show_wish *wish);

#endif /* LOADTEST_SHOW_LESSON_WISH_H */
