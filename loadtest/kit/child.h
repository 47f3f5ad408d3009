/* SPDX-License-Identifier: MIT */
/* child.h -- start, watch and end processes, and never a process of another program.
 *
 * A process is known by its pid and its start time together, so that a pid that was
 * used again is never signalled.  The processes need not be children of this one: the
 * servers of a lab outlive the command that started them.
 */
#ifndef LOADTEST_KIT_CHILD_H
#define LOADTEST_KIT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;      /* 0: none                                                     */
    uint64_t start; /* when it started, in clock ticks since the machine did       */
};

/* The system user whose rights a child process gets. */
struct child_user {
    uid_t uid;
    gid_t gid;
    const char *name;
};

/* Puts on record that this process runs.  False: the process must not run. */
typedef bool child_keep(void *keeper, const struct child *c);

struct child_options {
    const char *const *argv; /* argv[0] is looked up in PATH                        */
    char *const *env;        /* NULL: ours                                          */
    int stdin_fd;            /* -1: /dev/null; the same for the next two            */
    int stdout_fd;
    int stderr_fd;
    const struct child_user *user; /* NULL: ourselves                               */
    int death_signal;        /* sent to it when we die; 0: it outlives us           */
    child_keep *keep;        /* NULL: no record is kept.  Called with *c as it      */
    void *keeper;            /* will be, before the program begins: if we die until */
                             /* it returns, nothing runs                            */
};

/* Three times -1, everything else zero. */
struct child_options child_options_default(const char *const *argv);

/* Start a process in a session of its own, so that Ctrl-C reaches only us.
 * False: it could not be started; errno says why (ECANCELED: `keep` said no). */
bool child_start(struct child *c, const struct child_options *options);

/* Does exactly this process still run?  A zombie does not. */
bool child_runs(const struct child *c);

/* The same, and is it not stopped either, as SIGSTOP would stop it? */
bool child_works(const struct child *c);

/* The state letter of /proc/PID/stat ('R', 'S', 'T', ...), 0 if it does not run. */
char child_state(const struct child *c);

/* Signal it; nothing happens if it is gone. */
void child_signal(const struct child *c, int number);

/* Wait until it is gone.  False: it still runs after `timeout_ms`.  If it is our child
 * it is reaped and *status (may be NULL) is what waitpid() said; otherwise *status is
 * -1. */
bool child_wait(struct child *c, int64_t timeout_ms, int *status);

/* End it: `number` first, SIGKILL if it has not gone after `grace_ms`, and reap it.
 * A stopped process is continued.  Afterwards c->pid is 0. */
void child_end(struct child *c, int number, int64_t grace_ms);

enum { CHILD_CHILDREN_MAX = 512 };

/* The children that a process has now, at most CHILD_CHILDREN_MAX; answers how many. */
size_t child_children(const struct child *c, struct child *out);

/* The start time of any process; 0 if there is none of that pid. */
uint64_t child_start_time(pid_t pid);

#endif /* LOADTEST_KIT_CHILD_H */
