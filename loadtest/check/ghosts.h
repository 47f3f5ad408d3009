/* SPDX-License-Identifier: MIT */
/* ghosts.h -- ghosts: the acquires of one lock that have no answer, and the refusals that only a
 * ghost can explain.
 *
 * The store may have granted a ghost at any time after it was made, or never.  A granted ghost
 * lasts for one lease, or until a hold that it excludes is granted.  So a ghost explains the
 * refusals within one lease between two holds that it excludes, and no other refusals.  Only a
 * writer explains the refusal of a reader. */
#ifndef LOADTEST_CHECK_GHOSTS_H
#define LOADTEST_CHECK_GHOSTS_H

#include "loadtest/check/checks/checks.h"

/* The refusals since the last that was explained. */
struct ghosts_need {
    int64_t first_ns; /* the first answer among them                                */
    int64_t call;     /* the refusal with that answer; NO_CALL: there are none      */
    int64_t from_ns;  /* when the last of them began                                */
};

/* The condition that the last used ghost has to meet. */
enum ghosts_kind { GHOST_ANY, GHOST_WRITER, GHOST_READER };

/* The arrays are by the mode of the refused call: any ghost explains the refusal of a writer, and
 * the ghost of a writer explains the refusal of a reader. */
struct ghosts {
    const uint32_t *at[2];   /* positions among the lock's calls, in c->ghosts        */
    size_t count[2];
    size_t used[2];          /* the number of ghosts that have explained refusals     */
    int64_t used_ns[2];      /* the latest first_ns of the used ghosts                */
    int64_t first_ns;        /* the first answer of the last used ghost's refusals    */
    int64_t until_ns;        /* the last used ghost explains until then; -1: no more  */
    enum ghosts_kind kind;   /* the condition of the last used ghost                  */
    struct ghosts_need needs[2];
    int64_t lease_ns;        /* the longest time for which a ghost may hold           */
    int64_t end_ns;          /* no ghost holds after this instant                     */
    const struct hold *last; /* the last hold of ghosts_pass_hold()                   */
};

/* Find the ghosts of c->lock.  The arrays are valid until the next lock is judged. */
void ghosts_gather(struct check *c, struct ghosts *g);

/* Can a ghost that has explained no refusal yet explain this one? */
bool ghosts_may_explain(const struct check *c, const struct ghosts *g,
                        const struct history_call *call);

/* Note that only a ghost can explain the refusal.  To be called in the order of
 * c->lock.refusals. */
void ghosts_need(struct check *c, struct ghosts *g, const struct refusal *refusal);

/* Note that the next hold was granted, which ends the ghosts that it excludes. */
void ghosts_pass_hold(struct check *c, struct ghosts *g, const struct hold *hold);

/* Report the refusals that no ghost explains. */
void ghosts_close(struct check *c, struct ghosts *g);

#endif /* LOADTEST_CHECK_GHOSTS_H */
