/* SPDX-License-Identifier: MIT */
/* privileges.h -- the user that a process becomes which was started as root.
 *
 * Secrets are read and listeners are bound as root.  All else is done as --user: stores are
 * reached, and the record directory is made and written.  The listeners serve from when they
 * are bound, so for a moment a request may be answered by a process that is root still.
 *
 * Threads     The main thread only; each call changes all threads of the process.
 */
#ifndef APP_PRIVILEGES_H
#define APP_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

struct privileges {
    const char *user; /* --user; NULL: the process stays what it is.  Lent */
    uid_t uid;        /* the user that this process will be */
    gid_t gid;
    bool can_drop;    /* it is root and will become another user */
};

/* Find the user (NULL: none is wanted), and set HOME to that user's if the process is to
 * change.  False: there is no such user, or this process cannot become it; the log says so. */
bool privileges_find(struct privileges *p, const char *user);

/* Act as the user, with the user's groups; root can be had back.  True where nothing is to
 * change.  False: the log says why not. */
bool privileges_lower(const struct privileges *p);

/* Act as root again, if it was. */
bool privileges_raise(const struct privileges *p);

/* Become the user for good.  True: no thread has another user or group, nor any capability
 * (or nothing is to change).  False: the log says why not; the process must end. */
bool privileges_drop(const struct privileges *p);

#endif /* APP_PRIVILEGES_H */
