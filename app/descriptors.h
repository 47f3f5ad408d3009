/* SPDX-License-Identifier: MIT */
/* descriptors.h -- how many connections the file descriptors of this process allow. */
#ifndef APP_DESCRIPTORS_H
#define APP_DESCRIPTORS_H

#include "app/config.h"

/* Lower open[0] (orders) and open[1] (admin) to what is possible beside `queued` more
 * and what the stores need; the log says so.  *descriptors is above every descriptor that
 * a connection will have.  False: there are too few for any service; the log says how many
 * it would take. */
bool descriptors_plan(const struct config *c, int64_t queued, int64_t open[2],
                      size_t *descriptors);

#endif /* APP_DESCRIPTORS_H */
