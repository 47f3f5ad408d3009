/* SPDX-License-Identifier: MIT */
/* child.c -- processes, each known by pid and start time. */
#include "loadtest/kit/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text/duration.h"

enum { POLL_MS = 5, EXEC_FAILED = 127 };

struct child_options child_options_default(const char *const *argv)
{
    return (struct child_options){
        .argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
}

enum { FIELD_STATE = 3, FIELD_THREADS = 20, FIELD_START = 22 };

/* A process, as /proc/PID/stat describes it. */
struct stat_line {
    char command[CHILD_COMMAND_MAX];
    char state;
    pid_t parent;
    uint64_t start;
};

/* Read /proc/PID/stat.  The command in field 2 may have any bytes, so fields are counted from the
 * last ")".
 *
 * The first thread of a process that was killed may be a zombie before the other threads have
 * ended.  The files and ports of the process are in use until then, so such a zombie counts as
 * running. */
static bool read_stat(pid_t pid, struct stat_line *out)
{
    char path[64], text[1024];
    const char *p, *command;
    size_t n;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    command = strchr(text, '(');
    p = strrchr(text, ')');
    if (!command || !p || p[1] != ' ')
        return false;
    snprintf(out->command, sizeof out->command, "%.*s", (int)(p - command - 1), command + 1);
    out->state = p[2];
    out->parent = (pid_t)strtol(p + 3, NULL, 10);
    p += 2;
    for (int field = FIELD_STATE; field < FIELD_START; field++) {
        if (field == FIELD_THREADS && out->state == 'Z' && strtol(p, NULL, 10) > 1)
            out->state = 'D';
        p = strchr(p, ' ');
        if (!p)
            return false;
        p++;
    }
    out->start = strtoull(p, NULL, 10);
    return true;
}

uint64_t child_start_time(pid_t pid)
{
    struct stat_line found;

    return read_stat(pid, &found) ? found.start : 0;
}

char child_state(const struct child *c)
{
    struct stat_line found;

    if (c->pid <= 0 || !read_stat(c->pid, &found) || found.start != c->start)
        return 0;
    return found.state == 'Z' || found.state == 'X' ? 0 : found.state;
}

void child_command(char out[CHILD_COMMAND_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');

    snprintf(out, CHILD_COMMAND_MAX, "%s", slash ? slash + 1 : path);
}

bool child_has_command(const struct child *c, const char *command)
{
    struct stat_line found;

    return child_runs(c) && read_stat(c->pid, &found) && strcmp(found.command, command) == 0;
}

bool child_runs(const struct child *c)
{
    return child_state(c) != 0;
}

bool child_works(const struct child *c)
{
    char state = child_state(c);

    return state != 0 && state != 'T';
}

void child_signal(const struct child *c, int number)
{
    if (child_runs(c))
        kill(c->pid, number);
}

size_t child_children(const struct child *c, struct child *out)
{
    DIR *dir = child_runs(c) ? opendir("/proc") : NULL;
    struct dirent *entry;
    size_t count = 0;

    while (dir && count < CHILD_CHILDREN_MAX && (entry = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        struct stat_line found;

        if (pid > 0 && read_stat(pid, &found) && found.parent == c->pid)
            out[count++] = (struct child){pid, found.start};
    }
    if (dir)
        closedir(dir);
    return count;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void attach(int fd, int target)
{
    if (fd < 0)
        fd = open("/dev/null", target == STDIN_FILENO ? O_RDONLY : O_WRONLY);
    if (fd >= 0)
        dup2(fd, target); /* clears close-on-exec */
}

/* Wait until the parent lets the child go on.  If the parent dies first, the stream ends; not
 * so if another of its threads forked meanwhile, for that child has the same stream. */
static void wait_until_kept(int gate_fd)
{
    char c;
    ssize_t n;

    do
        n = read(gate_fd, &c, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(EXEC_FAILED);
}

/* Runs between fork and exec, so it calls only functions that a signal handler may call. */
static void become(const struct child_options *o, pid_t parent, int gate_fd,
                   int report_fd)
{
    const char *slash = strrchr(o->argv[0], '/');
    sigset_t none;

    setsid();
    (void)prctl(PR_SET_NAME, slash ? slash + 1 : o->argv[0]); /* as the program will be called */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    attach(o->stdin_fd, STDIN_FILENO);
    attach(o->stdout_fd, STDOUT_FILENO);
    attach(o->stderr_fd, STDERR_FILENO);
    if (o->user && (initgroups(o->user->name, o->user->gid) != 0 ||
                    setgid(o->user->gid) != 0 || setuid(o->user->uid) != 0))
        goto fail;
    /* After setuid(), which would clear it. */
    if (o->death_signal && prctl(PR_SET_PDEATHSIG, o->death_signal) != 0)
        goto fail;
    if (o->death_signal && getppid() != parent)
        _exit(EXEC_FAILED); /* the parent died before PR_SET_PDEATHSIG was set */
    if (o->user && chdir("/") != 0)
        goto fail;
    wait_until_kept(gate_fd);
    if (o->env)
        execvpe(o->argv[0], (char *const *)o->argv, o->env);
    else
        execvp(o->argv[0], (char *const *)o->argv);
fail:
    if (write(report_fd, &errno, sizeof errno) < 0)
        _exit(EXEC_FAILED);
    _exit(EXEC_FAILED);
}

/* Put the child on record and let it go on.  0, or the errno of the failure. */
static int let_go(const struct child_options *o, const struct child *c, int gate_fd,
                  int report_fd)
{
    int failure = 0;
    ssize_t n;

    if (o->keep && !o->keep(o->keeper, c))
        return ECANCELED;
    /* If the child has failed by now, no process reads this: SIGPIPE must not end the parent. */
    if (send(gate_fd, "", 1, MSG_NOSIGNAL) != 1 && errno != EPIPE)
        return errno;
    do /* end of file: the exec succeeded and closed the other end */
        n = read(report_fd, &failure, sizeof failure);
    while (n < 0 && errno == EINTR);
    return n > 0 ? failure : 0;
}

bool child_start(struct child *c, const struct child_options *options)
{
    int gate[2] = {-1, -1}, report[2] = {-1, -1};
    pid_t parent = getpid();
    pid_t pid = -1;
    int failure = 0;

    *c = (struct child){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) != 0 ||
        pipe2(report, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
        failure = errno;
        goto out;
    }
    if (pid == 0) {
        close(gate[1]); /* otherwise the stream of the child would never end */
        become(options, parent, gate[0], report[1]);
    }
    close_end(&gate[0]);
    close_end(&report[1]);
    *c = (struct child){pid, child_start_time(pid)};
    failure = let_go(options, c, gate[1], report[0]);
out:
    close_end(&gate[0]);
    close_end(&gate[1]);
    close_end(&report[0]);
    close_end(&report[1]);
    if (failure == 0)
        return true;
    if (pid > 0)
        waitpid(pid, NULL, 0); /* the gate is closed, so it ends */
    *c = (struct child){0};
    errno = failure;
    return false;
}

static void pause_ms(int64_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

bool child_wait(struct child *c, int64_t timeout_ms, int *status)
{
    int64_t deadline_ns = monotonic_ns() + timeout_ms * 1000000;
    int waited = -1;

    if (status)
        *status = -1;
    if (c->pid <= 0)
        return true;
    for (;;) {
        pid_t got = waitpid(c->pid, &waited, WNOHANG);

        if (got == c->pid) {
            if (status)
                *status = waited;
            break;
        }
        if (got < 0 && errno == ECHILD && !child_runs(c))
            break;
        if (monotonic_ns() >= deadline_ns)
            return false;
        pause_ms(POLL_MS);
    }
    *c = (struct child){0};
    return true;
}

void child_end(struct child *c, int number, int64_t grace_ms)
{
    if (c->pid <= 0)
        return;
    child_signal(c, number);
    child_signal(c, SIGCONT);
    if (child_wait(c, grace_ms, NULL))
        return;
    child_signal(c, SIGKILL);
    child_wait(c, 5000, NULL);
    *c = (struct child){0};
}
