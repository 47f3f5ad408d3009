/* SPDX-License-Identifier: MIT */
/* stores.h -- reach the stores when the service starts. */
#ifndef APP_STORES_H
#define APP_STORES_H

#include "app/service.h"

/* Reach the store of the lock, that of the admission, that of the stream, and PostgreSQL; fill
 * s->locks, s->admission and s->stream.  A store that does not answer, or says that it is not up yet, is asked again
 * until --start-timeout has passed; one that refuses for good is not.
 *   VALID         all answered
 *   USAGE         the lock or the admission cannot be used with these settings
 *   UNAVAILABLE   one did not answer, or refused
 * On anything but VALID the log says which, and what it said. */
enum exit_code stores_open(struct service *s);

#endif /* APP_STORES_H */
