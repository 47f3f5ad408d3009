/* SPDX-License-Identifier: MIT */
/* redis_single.h -- the common part of the variants on one Redis: a link, scripts, plain
 * commands on one key.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_REDIS_SINGLE_H
#define DLOCK_REDIS_SINGLE_H

#include "lock/dlock_variant.h"
#include "lock/stores/redis_request.h"
#include "lock/stores/redis_shapes.h"

/* Make a link to opts->redis_url, and check that the server answers and that the user may send
 * the `commands` (see redis_rights.h; NULL: the caller checks that).  Answers as dlock_open(). */
dlock_status redis_single_open(const dlock_options *opts, const char *commands,
                               struct redis_link **out);

/* The slot `check` of the variants that open with `commands`. */
dlock_status redis_single_check(struct redis_link *link, const char *commands);

/* The slot `era` of variants whose state is the link. */
uint64_t redis_single_era(void *link, const char *name);

/* SET key value NX PX lease_ms, which replicas have to acknowledge if the options say so.  OK or
 * BUSY, or a failure. */
dlock_status redis_set_if_absent(struct redis_link *link, const char *key,
                                 const char *value, int lease_ms);

/* SETNX key value: a key without an end.  OK or BUSY, or a failure. */
dlock_status redis_set_first(struct redis_link *link, const char *key,
                             const char *value);

/* PEXPIRE key lease_ms.  OK, or LOST if there is no such key, or a failure. */
dlock_status redis_expire(struct redis_link *link, const char *key, int lease_ms);

/* The same, for the last command of a grant: the replicas have to acknowledge it. */
dlock_status redis_expire_grant(struct redis_link *link, const char *key, int lease_ms);

/* DEL key.  OK, or LOST if there was none, or a failure. */
dlock_status redis_delete(struct redis_link *link, const char *key);

/* GET key, whose value has the `shape` TEXT, NUMBER or TIME.  OK, and the value is in
 * `answer`; LOST: there is no such key; or a failure. */
dlock_status redis_get(struct redis_link *link, const char *key,
                       const struct redis_shape *shape, struct redis_answer *answer);

/* Run a script that answers 1 for yes and 0 for no: OK or LOST, or a failure. */
dlock_status redis_script_ask(struct redis_link *link,
                              const struct redis_script_call *call, int64_t give_up_ns);

/* The same for a script that renews a lease: replicas have to acknowledge a yes. */
dlock_status redis_script_extend(struct redis_link *link,
                                 const struct redis_script_call *call, int64_t give_up_ns);

/* The slot read_release of variants whose release is such a script. */
dlock_status redis_read_yes_no(void *state, const dlock_claim *claim,
                               const struct redis_answer *answer);

#endif /* DLOCK_REDIS_SINGLE_H */
