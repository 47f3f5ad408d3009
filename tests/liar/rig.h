/* SPDX-License-Identifier: MIT */
/* rig.h -- the stores with their liars, and two systems of one variant: one asks a server that
 * lies, the other the real one. */
#ifndef LIAR_RIG_H
#define LIAR_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"
#include "tests/liar/lies.h"

/* A kind of store, and how it lies. */
struct store {
    const char *name;
    const char *real_variable; /* of the environment */
    char real_url[256];
    const char *url; /* of the server that lies; NULL: it does not run */
    const char *(*start)(const char *url);
    void (*stop)(void);
    size_t (*lies)(const struct lie **lies);
    bool (*is_grant)(const struct lie *lie, const char *asked);
};

enum { REDIS, POSTGRES, ETCD, STORE_COUNT };

extern struct store stores[STORE_COUNT];

/* A variant, who lies to it, and whether its fences have epochs, which are PostgreSQL's. */
struct subject_of_lies {
    const char *variant;
    struct store *liar;
    bool has_epochs;
    char name[64];
};

/* A variant under test, and its systems. */
struct rig {
    const struct subject_of_lies *of;
    dlock_system *sys;   /* of the server that lies */
    dlock_system *other; /* of the real one         */
};

/* Start the liars before the stores that the environment names.  False: one does not start. */
bool rig_start_servers(void);
void rig_stop_servers(void);
/* The row of the store in which a variant keeps its locks; NULL: it has no liar. */
struct store *rig_store_of(const char *variant);

/* Open both systems; the liar is honest then.  A failure fails the test. */
void rig_begin(struct rig *rig, const struct subject_of_lies *of);
void rig_end(struct rig *rig);

/* The options of a system whose `liar` lies; NULL: nobody does. */
dlock_options rig_options(const struct subject_of_lies *of, const struct store *liar);

int64_t rig_now_ms(void);
/* A lock's name that was not used before; valid until the next call. */
const char *rig_new_name(void);
/* Take a lock that nobody has.  On a slow machine a grant may come after its lease, and a
 * broken connection is made anew, so it is tried until its patience is over. */
void rig_take_free(dlock_system *sys, const char *name, dlock_lease *lease);
/* Fail unless the connection of `sys` serves again, or another one does. */
void rig_assert_works(dlock_system *sys);
/* Does the other owner hold it still?  A lease may have ended meanwhile.  NULL: no. */
bool rig_is_held(const struct rig *rig, const dlock_lease *held);

#endif /* LIAR_RIG_H */
