/* SPDX-License-Identifier: MIT */
/* pager.h -- long texts through the user's pager, when the user sits before a terminal.
 *
 * Threads     The main thread alone, before there are others.
 */
#ifndef LOADTEST_KIT_PAGER_H
#define LOADTEST_KIT_PAGER_H

/* Start $PAGER, or `less -FRX` where that is not set, and send to it what is written to stdout
 * from now on.  Nothing happens, and stdout stays what it is, if stdout is no terminal or a
 * dumb one, if $PAGER is empty or `cat`, if no less is installed, or if the pager cannot be
 * started; a $PAGER that is not there is named on stderr.  Until pager_end() an interrupt
 * belongs to the pager, and a user who leaves it early is no failure. */
void pager_begin(void);

/* Wait until the user leaves the pager; then stdout leads nowhere.  Without a pager nothing
 * happens. */
void pager_end(void);

#endif /* LOADTEST_KIT_PAGER_H */
