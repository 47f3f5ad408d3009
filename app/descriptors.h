/* SPDX-License-Identifier: MIT */
/* descriptors.h -- computes how many connections the limit of file descriptors
 * allows. */
#ifndef APP_DESCRIPTORS_H
#define APP_DESCRIPTORS_H

#include "app/config.h"

/* Lower open[0] (orders) and open[1] (admin) so that these connections, `queued` more,
 * and the stores' connections fit into the limit of file descriptors; the log says so.
 * Every descriptor of a connection will be below *descriptors.  False: the limit is too
 * low for 16 connections, or all if fewer are set, of each listener; the log names the
 * needed limit. */
bool descriptors_plan(const struct config *c, int64_t queued, int64_t open[2],
                      size_t *descriptors);

#endif /* APP_DESCRIPTORS_H */
