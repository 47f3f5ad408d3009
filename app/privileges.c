/* SPDX-License-Identifier: MIT */
/* privileges.c -- changes a process that was started as root to another user. */
#include "app/privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/text/log.h"

bool privileges_find(struct privileges *p, const char *user)
{
    const struct passwd *entry = NULL;

    *p = (struct privileges){.user = user, .uid = geteuid(), .gid = getegid()};
    if (user == NULL && p->uid == 0)
        log_warn("this process stays root: --user=NAME would make it another user once it "
                 "listens");
    if (user == NULL)
        return true;
    errno = 0;
    entry = getpwnam(user);
    if (entry == NULL) {
        log_error("--user=%s must be the name of a user of this machine: %s", user,
                  errno != 0 ? strerror(errno) : "there is none of that name");
        return false;
    }
    if (p->uid != 0 && p->uid != entry->pw_uid) {
        log_error("--user=%s needs a start as root, or as %s: this process is user %lld",
                  user, user, (long long)p->uid);
        return false;
    }
    p->can_drop = p->uid == 0 && entry->pw_uid != 0;
    p->uid = entry->pw_uid;
    p->gid = entry->pw_gid;
    if (p->uid == 0)
        log_info("this process stays root: --user=%s is root", user);
    /* libpq looks for certificates in HOME, and fails if it may not read that
     * directory. */
    if (p->can_drop && setenv("HOME", entry->pw_dir, 1) != 0) {
        log_error("out of memory");
        return false;
    }
    return true;
}

static bool refuse(const struct privileges *p, const char *what)
{
    log_error("cannot become --user=%s: %s: %s", p->user, what, strerror(errno));
    return false;
}

/* Set the parent-death signal again, because the kernel clears it when the user
 * changes. */
static void keep_death_signal(int number)
{
    if (number != 0)
        (void)prctl(PR_SET_PDEATHSIG, number);
}

bool privileges_lower(const struct privileges *p)
{
    int death_signal = 0;

    if (!p->can_drop)
        return true;
    (void)prctl(PR_GET_PDEATHSIG, &death_signal);
    if (initgroups(p->user, p->gid) != 0)
        return refuse(p, "setgroups");
    if (setegid(p->gid) != 0)
        return refuse(p, "setegid");
    if (seteuid(p->uid) != 0)
        return refuse(p, "seteuid");
    keep_death_signal(death_signal);
    return true;
}

bool privileges_raise(const struct privileges *p)
{
    int death_signal = 0;

    if (!p->can_drop)
        return true;
    (void)prctl(PR_GET_PDEATHSIG, &death_signal);
    if (seteuid(0) != 0)
        return refuse(p, "seteuid");
    keep_death_signal(death_signal);
    return true;
}

/* Are all users and groups changed, without a way back to root? */
static bool is_dropped(const struct privileges *p)
{
    uid_t real, effective, saved;
    gid_t real_group, effective_group, saved_group;

    return getresuid(&real, &effective, &saved) == 0 &&
           getresgid(&real_group, &effective_group, &saved_group) == 0 &&
           real == p->uid && effective == p->uid && saved == p->uid &&
           real_group == p->gid && effective_group == p->gid && saved_group == p->gid &&
           setuid(0) != 0 && seteuid(0) != 0;
}

bool privileges_drop(const struct privileges *p)
{
    int death_signal = 0;

    if (!p->can_drop)
        return true;
    (void)prctl(PR_GET_PDEATHSIG, &death_signal);
    if (setgid(p->gid) != 0)
        return refuse(p, "setgid");
    if (setuid(p->uid) != 0)
        return refuse(p, "setuid");
    if (!is_dropped(p)) {
        log_error("cannot become --user=%s: the process could be root again", p->user);
        return false;
    }
    keep_death_signal(death_signal);
    log_info("no longer root: user %s (%lld), group %lld", p->user, (long long)p->uid,
             (long long)p->gid);
    return true;
}
