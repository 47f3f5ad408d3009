/* SPDX-License-Identifier: MIT */
/* privileges.h -- changes a process that was started as root to another user.
 *
 * As root the process reads secrets and binds listeners.  Everything else, such as
 * connecting to stores and writing the record, is done as --user.  The listeners serve
 * as soon as they are bound, so for a moment the process may answer requests as root.
 *
 * Threads     The main thread only; each call changes all threads of the process.
 */
#ifndef APP_PRIVILEGES_H
#define APP_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

struct privileges {
    const char *user; /* --user; NULL: the process does not change its user.
                       * Borrowed */
    uid_t uid;        /* the user that this process will be */
    gid_t gid;
    bool can_drop;    /* the process is root and will become another user */
};

/* Find the user (NULL: no change), and set HOME to the home of that user if the process
 * will change.  False: there is no such user, or this process cannot become that user;
 * the log says which. */
bool privileges_find(struct privileges *p, const char *user);

/* Act as the user, with the user's groups, so that root can be restored.  True also if
 * the process does not change its user.  False: the log says why not. */
bool privileges_lower(const struct privileges *p);

/* Act as root again, if the process was root.  False: the log says why not. */
bool privileges_raise(const struct privileges *p);

/* Become the user for good.  True: every thread has this user and group and no
 * capability (or the process does not change its user).  False: the log says why not;
 * the process must end. */
bool privileges_drop(const struct privileges *p);

#endif /* APP_PRIVILEGES_H */
