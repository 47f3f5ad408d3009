/* SPDX-License-Identifier: MIT */
/* interrupt.h -- Ctrl-C: the first one is a request, the second one is an order.
 *
 * After interrupt_catch() the first SIGINT, SIGTERM or SIGHUP only sets a flag, which
 * everything that waits looks at; the program then stops its load, writes what there is
 * and takes its servers down.  The second one ends the program at once.
 */
#ifndef LOADTEST_KIT_INTERRUPT_H
#define LOADTEST_KIT_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* Call once, at the start of main().  SIGPIPE is ignored from then on. */
void interrupt_catch(void);

/* Lines at the end of the terminal are drawn over again and again, and the cursor stands before
 * them: whoever asks us to stop makes them vanish first.  false: no longer. */
void interrupt_erases(bool erases);

/* Has somebody asked us to stop? */
bool interrupted(void);

/* From a call with true to the call with false that ends it, interrupted() is false, so that a
 * thread can undo a fault first.  Each thread calls it in pairs, which may nest; interrupted()
 * is false as long as any pair is open.  A second signal ends the program all the same.
 * Threads: any. */
void interrupt_defer(bool defer);

/* Sleep; false, and earlier, if somebody asks us to stop meanwhile. */
bool interrupt_sleep_ms(int64_t ms);

#endif /* LOADTEST_KIT_INTERRUPT_H */
