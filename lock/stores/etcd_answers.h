/* SPDX-License-Identifier: MIT */
/* etcd_answers.h -- what etcd's answers say of the keys of a lock.
 *
 * etcd leaves out what is 0, false or empty.  An answer that no etcd gives is refused here.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_ANSWERS_H
#define DLOCK_ETCD_ANSWERS_H

#include "lock/stores/etcd_text.h"

/* A key of a lock. */
struct etcd_key {
    const char *name;  /* of the lock  */
    uint64_t lease;
    uint64_t created;  /* its create revision, which no other key ever had; 0: not known */
};

enum etcd_kind { ETCD_OF_THE_LOCK, ETCD_OF_ANOTHER, ETCD_NO_KEY };

/* The revision in the header.  False: there is none. */
bool etcd_answer_revision(const json_t *json, uint64_t *out);

/* The answer to the nth operation of a transaction; NULL: there is none of that kind. */
const json_t *etcd_answer_part(const json_t *json, size_t nth, const char *kind);

/* The keys that a range has found: an array, or NULL, which is none.  False: it is no
 * answer to a range. */
bool etcd_answer_keys(const json_t *range, const json_t **out);

/* How many keys are in a range, of which the answer may show a part; -1: it does not say. */
int64_t etcd_answer_count(const json_t *range);

/* Is that a key of the lock `name`?  Then *out is which, and `name` is borrowed. */
enum etcd_kind etcd_answer_key(const json_t *entry, const char *name, struct etcd_key *out);

/* The one key that a range has found; *kind is ETCD_NO_KEY if it has found none.  False: it
 * is no answer to a range of one key at most. */
bool etcd_answer_one(const json_t *range, const char *name, struct etcd_key *out,
                     enum etcd_kind *kind);

/* The text of a key: "" if it has none, or none that could be an owner.  False: it is no key. */
bool etcd_answer_owner(const json_t *entry, char owner[DLOCK_OWNER_MAX + 1]);

#endif /* DLOCK_ETCD_ANSWERS_H */
