/* SPDX-License-Identifier: MIT */
/* live_block.h -- some lines at the end of a terminal that are drawn over again and again.
 *
 * The block is on stderr.  While the block is shown, the cursor stands at its first column: a
 * terminal that was made narrower breaks long lines anew, and the cursor stays where the block
 * begins.  A thread that prints while the block is shown hides the block first.
 *
 * Threads     Any.
 */
#ifndef LOADTEST_KIT_LIVE_BLOCK_H
#define LOADTEST_KIT_LIVE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Can stderr show a block: is it a terminal that is not dumb? */
bool live_block_is_possible(void);

/* Draw the lines of `text` in place of those before.  A line that is longer than the terminal
 * is wide is cut, and so are the lines that are more than the terminal is high; escape
 * sequences that end with "m" have no width. */
void live_block_draw(const char *text);

/* Erase the block, so that the next text is printed in its place.  Nothing happens if no block is
 * shown. */
void live_block_hide(void);

#endif /* LOADTEST_KIT_LIVE_BLOCK_H */
