/* SPDX-License-Identifier: MIT */
/* refuser.h -- a proxy between a lock and its server that answers requests with an error of the
 * server, without passing them on.
 *
 * The errors are those of base/os/refusals.def.  A law that begins to refuse must have no request
 * under way. */
#ifndef CONFORMANCE_REFUSER_H
#define CONFORMANCE_REFUSER_H

#include <stdbool.h>

#include "base/os/refusal.h"

struct refuser_row {
    enum refusal_store store;
    const char *code;
    enum refusal meaning;
    const char *body; /* of a proxy before etcd; NULL: a page */
};

/* Start the refuser before the address "127.0.0.1:port" in `url`, the URL of a server that speaks
 * the protocol of `store`.  Returns the URL with the refuser's address. */
const char *refuser_start(enum refusal_store store, const char *url);

/* From now on, answer with this error; `cuts`: on new connections, since all others are cut. */
void refuser_refuse(const struct refuser_row *row, bool cuts);

/* Pass requests on again. */
void refuser_pass(void);

/* Stop, if it runs. */
void refuser_stop(void);

#endif /* CONFORMANCE_REFUSER_H */
