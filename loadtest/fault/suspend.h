/* SPDX-License-Identifier: MIT */
/* suspend.h -- a server that hangs for a while: it is stopped, and certainly continued.
 *
 * A helper process continues it when we say so, and also when we die, however that
 * happens.  A server of many processes is stopped as a whole: the one that was started,
 * and its children.
 */
#ifndef LOADTEST_FAULT_SUSPEND_H
#define LOADTEST_FAULT_SUSPEND_H

#include <stdbool.h>

#include "loadtest/kit/child.h"

struct suspend {
    struct child helper; /* pid 0: nothing is stopped    */
    int line;            /* the helper waits for its end */
};

/* Stop it; it has stopped when this returns.  False: said on stderr why; it runs. */
bool suspend_begin(struct suspend *s, const struct child *server);

/* Continue it; it runs when this returns.  False: it was not stopped. */
bool suspend_end(struct suspend *s);

#endif /* LOADTEST_FAULT_SUSPEND_H */
