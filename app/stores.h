/* SPDX-License-Identifier: MIT */
/* stores.h -- connects to the stores when the service starts. */
#ifndef APP_STORES_H
#define APP_STORES_H

#include "app/service.h"

/* Connect to the stores of the lock, of the admission and of the stream, and to
 * PostgreSQL; set s->locks, s->admission and s->stream.  A store that does not answer,
 * or that answers that it is still starting, is asked again until --start-timeout has
 * passed.  A store that refuses for a lasting reason is not asked again.
 *   VALID         all answered
 *   USAGE         the lock, the admission or the stream cannot be used with these
 *                 settings
 *   UNAVAILABLE   a store did not answer, or refused, or this service might sell twice
 *   CANNOT_WRITE  the file of --record cannot be made
 * After any other answer than VALID the log names the store, or the record, and its reason. */
enum exit_code stores_open(struct service *s);

#endif /* APP_STORES_H */
