/* SPDX-License-Identifier: MIT */
/* text.h -- the text of a block or of a line, which grows by pieces. */
#ifndef LOADTEST_LIVE_TEXT_H
#define LOADTEST_LIVE_TEXT_H

enum { LIVE_TEXT_MAX = 8000 };

/* Append to the text.  A piece that does not fit is cut. */
void live_add(char out[LIVE_TEXT_MAX], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* LOADTEST_LIVE_TEXT_H */
