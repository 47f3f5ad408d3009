/* SPDX-License-Identifier: MIT */
/* wrong.h -- wrong variants, which show that the laws can fail.
 *
 * Each is one file in wrong/ that takes a copy of a real variant and breaks one thing
 * in it, and one line in wrong.def that says which law has to fail for it.  The wrong
 * variant stands in for the real one under its name, so every law speaks of it as of that. */
#ifndef CONFORMANCE_WRONG_H
#define CONFORMANCE_WRONG_H

#include "lock/stores/redis_single.h"

/* `it` is a copy of the variant that the line names; the original is still there. */
typedef void wrong_fn(dlock_variant *it);

#define WRONG(id, base, law, lie) wrong_fn wrong_##id;
#include "tests/conformance/wrong.def"
#undef WRONG

/* The variable that names the lie which this process tells.  Empty: none, but it is run
 * to be compared with one that lies. */
#define WRONG_ENV "CONFORMANCE_WRONG"

/* Let the lie of that name stand in.  Answers the variant's name, NULL if there is no
 * such lie. */
const char *wrong_enable(const char *name);

/* Run every lie against the law that has to catch it, and the real variant too, each in
 * a process of its own.  TAP; answers the exit code. */
int wrong_run_all(void);

/* Names, one a line. */
void wrong_list(void);

/* Functions that the files in wrong/ share. */

/* `it` becomes the lock of `lua` anew, whose state is a redis_link, to break one of
 * its slots. */
void wrong_be_plain(dlock_variant *it);
dlock_status wrong_plain_acquire(void *link, dlock_claim *claim);
dlock_status wrong_plain_release(void *link, const dlock_claim *claim);

/* Run a script: KEYS[1] the name; ARGV the token, the lease, the owner and the level. */
dlock_status wrong_eval(struct redis_link *link, const char *text,
                        const dlock_claim *claim, struct redis_answer *answer);

/* The same; OK if it answers 1, LOST if anything else. */
dlock_status wrong_ask(struct redis_link *link, const char *text,
                       const dlock_claim *claim);

/* A lock of `fair` with another script that acquires, which may end with WRONG_FAIR_GRANT: the
 * owner leaves the queue and has the lock. */
dlock_status wrong_open_fair(void **state, const dlock_options *opts, const char *acquire);
#define WRONG_FAIR_GRANT                                                               \
    " redis.call('LREM', KEYS[2], 0, ARGV[2])"                                         \
    " redis.call('ZREM', KEYS[3], ARGV[2])"                                            \
    " redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])"                                   \
    " redis.call('PEXPIRE', KEYS[1], ARGV[1])"                                         \
    " return nil"

#endif /* CONFORMANCE_WRONG_H */
