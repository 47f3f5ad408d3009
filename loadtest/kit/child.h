/* SPDX-License-Identifier: MIT */
/* child.h -- starts, watches and ends processes of this program, and never signals a process of
 * another program.
 *
 * A process is identified by its pid and its start time together, so a later process that got the
 * same pid is never signalled.  The processes need not be children of this one: the
 * servers of a lab outlive the command that started them.
 */
#ifndef LOADTEST_KIT_CHILD_H
#define LOADTEST_KIT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_COMMAND_MAX = 16 };

struct child {
    pid_t pid;      /* 0: none                                                     */
    uint64_t start; /* its start, in clock ticks since the start of the machine    */
};

/* The system user whose rights a child process gets. */
struct child_user {
    uid_t uid;
    gid_t gid;
    const char *name;
};

/* A function that records that this process runs.  False: the process must not run. */
typedef bool child_keep(void *keeper, const struct child *c);

struct child_options {
    const char *const *argv; /* argv[0] is looked up in PATH                        */
    char *const *env;        /* NULL: the environment of this process               */
    int stdin_fd;            /* -1: /dev/null; the same for the next two            */
    int stdout_fd;
    int stderr_fd;
    const struct child_user *user; /* NULL: the user of this process                */
    int death_signal;        /* sent to the child when this process dies; 0: none   */
    child_keep *keep;        /* called with *c before the program begins; if this   */
    void *keeper;            /* process dies before keep() returns, the program     */
                             /* does not run.  NULL: no record is kept              */
};

/* Three times -1, everything else zero. */
struct child_options child_options_default(const char *const *argv);

/* Start a process in a session of its own, so that Ctrl-C reaches only this process.
 * False: it could not be started; errno says why (ECANCELED: `keep` said no). */
bool child_start(struct child *c, const struct child_options *options);

/* The command of the program `path`, as /proc/PID/comm of a child has it from its beginning.  The
 * name of the file, cut as the kernel cuts it. */
void child_command(char out[CHILD_COMMAND_MAX], const char *path);

/* Does the process run, and has it that command? */
bool child_has_command(const struct child *c, const char *command);

/* Does exactly this process still run?  A zombie does not. */
bool child_runs(const struct child *c);

/* The same, and is it not stopped either, as SIGSTOP would stop it? */
bool child_works(const struct child *c);

/* The state letter of /proc/PID/stat ('R', 'S', 'T', ...), 0 if it does not run. */
char child_state(const struct child *c);

/* Send the child a signal; nothing happens if the child is gone. */
void child_signal(const struct child *c, int number);

/* Wait until the process has ended.  False: it still runs after `timeout_ms`.  A child of this
 * process is reaped, and *status (may be NULL) is its status as of waitpid(); otherwise *status
 * is -1. */
bool child_wait(struct child *c, int64_t timeout_ms, int *status);

/* Send the signal `number`, and SIGKILL if the process has not ended after `grace_ms`; reap it.  A
 * stopped process is continued first.  Afterwards c->pid is 0. */
void child_end(struct child *c, int number, int64_t grace_ms);

enum { CHILD_CHILDREN_MAX = 512 };

/* The children that a process has now, at most CHILD_CHILDREN_MAX; answers how many. */
size_t child_children(const struct child *c, struct child *out);

/* The start time of any process; 0 if there is none of that pid. */
uint64_t child_start_time(pid_t pid);

#endif /* LOADTEST_KIT_CHILD_H */
