/* SPDX-License-Identifier: MIT */
/* suspend.h -- stops a server for a while, and continues it in every case.
 *
 * A helper process continues the server when suspend_end() is called, and also when this program
 * dies, even by SIGKILL.  A server of many processes is stopped as a whole: the process that was
 * started, and its children.
 */
#ifndef LOADTEST_FAULT_SUSPEND_H
#define LOADTEST_FAULT_SUSPEND_H

#include <stdbool.h>

#include "loadtest/kit/child.h"

struct suspend {
    struct child helper; /* pid 0: nothing is stopped    */
    int line;            /* the helper waits for its end */
};

/* Stop the server; the server has stopped when the call returns.  False: the server runs, and the
 * reason is on stderr. */
bool suspend_begin(struct suspend *s, const struct child *server);

/* Continue the server; the server runs when the call returns.  False: it was not stopped. */
bool suspend_end(struct suspend *s);

#endif /* LOADTEST_FAULT_SUSPEND_H */
