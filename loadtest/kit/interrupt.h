/* SPDX-License-Identifier: MIT */
/* interrupt.h -- Ctrl-C: the first signal asks the program to stop, the second signal ends it.
 *
 * After interrupt_catch() the first SIGINT, SIGTERM or SIGHUP only sets a flag, which every wait
 * reads; the program then stops its load, writes the results so far and stops its servers.  The
 * second one ends the program at once, unless it is SIGHUP: a terminal that is closed sends
 * several.
 */
#ifndef LOADTEST_KIT_INTERRUPT_H
#define LOADTEST_KIT_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* Call once, at the start of main().  SIGPIPE is ignored from then on. */
void interrupt_catch(void);

/* True: a live block is shown (live_block.h), and a signal that ends the program erases the
 * block first.  False: the block is gone. */
void interrupt_erases(bool erases);

/* Has a signal asked the program to stop? */
bool interrupted(void);

/* From a call with true to the call with false that ends it, interrupted() is false, so that a
 * thread can undo a fault first.  Each thread calls it in pairs, which may nest; interrupted()
 * is false as long as any pair is open.  A second signal ends the program all the same.
 * Threads: any. */
void interrupt_defer(bool defer);

/* Sleep.  False: a signal has asked the program to stop, and ended the sleep. */
bool interrupt_sleep_ms(int64_t ms);

#endif /* LOADTEST_KIT_INTERRUPT_H */
