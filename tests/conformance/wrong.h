/* SPDX-License-Identifier: MIT */
/* wrong.h -- wrong locks, which show that the laws can fail.
 *
 * Each wrong lock is one function wrong_NAME() in a file of wrong/, which takes a copy of a real
 * variant and breaks one function of it, and one row in wrong.def that names the law which has to
 * fail. The wrong lock stands in for the real variant under its name, so the laws treat it as that
 * variant. */
#ifndef CONFORMANCE_WRONG_H
#define CONFORMANCE_WRONG_H

#include "lock/stores/redis_single.h"

/* `it` is a copy of the variant that the row names; the original is unchanged. */
typedef void wrong_fn(dlock_variant *it);

#define WRONG(id, base, law, lie) wrong_fn wrong_##id;
#include "tests/conformance/wrong.def"
#undef WRONG

/* The environment variable that names the defect of this process. */
#define WRONG_ENV "CONFORMANCE_WRONG"

/* Put the wrong lock of that name in the place of its variant, for which no law waits for long.
 * Returns the variant's name, NULL if there is no such wrong lock. */
const char *wrong_enable(const char *name);

/* For each wrong lock, in a process of its own: run the real variant, and then the wrong lock,
 * against the law that has to reject the wrong lock. `run_law` runs the case of that name, and
 * returns the number of failures. Prints TAP; returns the exit code. */
int wrong_run_all(unsigned at_once, bool fail_fast, int (*run_law)(const char *name));

/* Print the names of all wrong locks, one a line. */
void wrong_list(void);

/* Functions that the files in wrong/ share. */

/* Replace the functions of `it` by a second implementation of `lua`, whose state is a redis_link,
 * so that a file can break one of these functions. */
void wrong_be_plain(dlock_variant *it);
dlock_status wrong_plain_acquire(void *link, dlock_claim *claim);
dlock_status wrong_plain_release(void *link, const dlock_claim *claim);

/* Run a script: KEYS[1] the name; ARGV the token, the lease, the owner and the level. */
dlock_status wrong_eval(struct redis_link *link, const char *text,
                        const dlock_claim *claim, struct redis_answer *answer);

/* The same; returns OK if the script returns 1, else LOST. */
dlock_status wrong_ask(struct redis_link *link, const char *text,
                       const dlock_claim *claim);

/* Open a lock of `fair` with another script for the acquire. The script may end with
 * WRONG_FAIR_GRANT: the owner leaves the queue and has the lock. */
dlock_status wrong_open_fair(void **state, const dlock_options *opts, const char *acquire);
#define WRONG_FAIR_GRANT                                                               \
    " redis.call('LREM', KEYS[2], 0, ARGV[2])"                                         \
    " redis.call('ZREM', KEYS[3], ARGV[2])"                                            \
    " redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])"                                   \
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"                                         \
    " return nil"

#endif /* CONFORMANCE_WRONG_H */
