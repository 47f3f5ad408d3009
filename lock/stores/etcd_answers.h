/* SPDX-License-Identifier: MIT */
/* etcd_answers.h -- parses etcd's answers about the keys of a lock.
 *
 * etcd leaves a field out if it is 0, false or empty.  These functions refuse an answer
 * that etcd cannot give.
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

/* Read the revision in the header of an answer.  False: the answer has none. */
bool etcd_answer_revision(const json_t *json, uint64_t *out);

/* The answer to the nth operation of a transaction, which is of that kind; NULL: there
 * is no such answer. */
const json_t *etcd_answer_part(const json_t *json, size_t nth, const char *kind);

/* The keys in the answer to a range: *out is an array, or NULL for no keys.  False:
 * `range` is no such answer. */
bool etcd_answer_keys(const json_t *range, const json_t **out);

/* The number of keys in a range; the answer may show only some of them. -1: the answer
 * has no such number. */
int64_t etcd_answer_count(const json_t *range);

/* Which kind of key is `entry` for the lock `name`?  If it is a key of the lock, *out
 * describes it; out->name is the borrowed `name`. */
enum etcd_kind etcd_answer_key(const json_t *entry, const char *name, struct etcd_key *out);

/* The key in the answer to a range of at most one key; *kind is ETCD_NO_KEY if there is
 * none.  False: `range` is no such answer. */
bool etcd_answer_one(const json_t *range, const char *name, struct etcd_key *out,
                     enum etcd_kind *kind);

/* The value of a key, which is its owner; "" if it has no value, or a value that cannot
 * be an owner.  False: `entry` is no key. */
bool etcd_answer_owner(const json_t *entry, char owner[DLOCK_OWNER_MAX + 1]);

#endif /* DLOCK_ETCD_ANSWERS_H */
