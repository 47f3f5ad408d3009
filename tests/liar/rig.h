/* SPDX-License-Identifier: MIT */
/* rig.h -- the stores with a lying server in front of each, and two systems of one variant: one
 * uses the lying server, the other the real one. */
#ifndef LIAR_RIG_H
#define LIAR_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock/dlock.h"
#include "tests/liar/lies.h"

/* A kind of store, and its lying server. */
struct store {
    const char *name;
    const char *real_variable; /* the environment variable with the URL of the real server; NULL:
                                * a part of this process answers, without bytes */
    char real_url[256];
    const char *url; /* of the lying server; NULL: it does not run */
    const char *(*start)(const char *url);
    void (*stop)(void);
    size_t (*lies)(const struct lie **lies);
    bool (*is_grant)(const struct lie *lie, const char *asked);
};

enum { REDIS, POSTGRES, ETCD, ZOOKEEPER, STORE_COUNT };

extern struct store stores[STORE_COUNT];

/* A variant, the store whose server lies to it, and whether its fences have epochs, which
 * PostgreSQL keeps. */
struct subject_of_lies {
    const char *variant;
    struct store *liar;
    bool has_epochs;
    char name[64];
};

/* A variant under test, and its systems. */
struct rig {
    const struct subject_of_lies *of;
    dlock_system *sys;   /* uses the lying server */
    dlock_system *other; /* uses the real server */
};

/* Start the lying servers in front of the stores that the environment names. Returns false if one
 * does not start. */
bool rig_start_servers(void);
void rig_stop_servers(void);
/* The store of a variant's locks; NULL: it has no lying server. */
struct store *rig_store_of(const char *variant);

/* Open both systems while the lying server answers correctly. A failure fails the test. */
void rig_begin(struct rig *rig, const struct subject_of_lies *of);
void rig_end(struct rig *rig);

/* The options of a system whose server `liar` lies; NULL: no server lies. */
dlock_options rig_options(const struct subject_of_lies *of, const struct store *liar);

int64_t rig_now_ms(void);
/* Return a lock name that was not used before; valid until the next call. */
const char *rig_new_name(void);
/* Acquire a lock that no owner holds. On a slow machine a grant may come after its lease, and a
 * broken connection is opened again, so the function tries again until its time limit. */
void rig_take_free(dlock_system *sys, const char *name, dlock_lease *lease);
/* Fail unless `sys` works again, on its connection or on a new one. */
void rig_assert_works(dlock_system *sys);
/* Does the other owner still hold the lock? Its lease may have ended by now. NULL: no. */
bool rig_is_held(const struct rig *rig, const dlock_lease *held);

/* A test of cmocka; *state is a struct subject_of_lies. */
void believes_no_session(void **state);

#endif /* LIAR_RIG_H */
