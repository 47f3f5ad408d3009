/* SPDX-License-Identifier: MIT */
/* process.c -- starts an actor's process, sends orders to it, and ends it. */
#include "loadtest/scenario/participants/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/stage.h"

enum { END_MS = 3000 };

/* In the child: close the sockets of the other processes, and run the actor.  The process gets
 * its settings as its first message, because the proxies of its connections are made after the
 * fork. */
static void run_child(struct stage *s, struct stage_process *p, int fd, pid_t parent)
{
    ssize_t n;

    do
        n = recv(fd, &p->part, sizeof p->part, 0);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof p->part)
        _exit(EXIT_FAILURE);
    for (int i = 0; i < s->process_count; i++)
        if (s->processes[i].fd >= 0)
            close(s->processes[i].fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    signal(SIGINT, SIG_IGN); /* the parent ends this process */
    if (p->body != NULL)
        p->body(s, p, fd);
    actor_process_run(fd, &p->part);
}

void stage_fork(struct stage *s, struct stage_process *p)
{
    pid_t parent = getpid(), pid;
    int ends[2];

    p->fd = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        stage_fail(s, "no socket for an actor");
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(s, p, ends[1], parent);
        _exit(EXIT_FAILURE);
    }
    close(ends[1]);
    p->fd = ends[0];
    if (pid < 0)
        stage_fail(s, "no process for an actor");
    p->child = (struct child){pid, child_start_time(pid)};
    p->pid = (uint32_t)pid;
}

void process_tell(struct stage *s, struct stage_process *p,
                  const struct actor_order *order)
{
    ssize_t n;

    do
        n = send(p->fd, order, sizeof *order, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        stage_fail(s, "%s cannot be told to do anything: its process has gone",
                   p->part.name);
}

/* Read one answer of the process.  False: none came within `wait_ms`. */
static bool take_answer(struct stage *s, struct stage_process *p, int wait_ms)
{
    struct pollfd polled = {.fd = p->fd, .events = POLLIN};
    struct actor_answer answer;
    ssize_t n;

    if (poll(&polled, 1, wait_ms) <= 0)
        return false;
    n = recv(p->fd, &answer, sizeof answer, 0);
    if (n < 0 && errno == EINTR)
        return false;
    if (n != (ssize_t)sizeof answer)
        stage_fail(s, "the process of %s has gone", p->part.name);
    p->answers[answer.thread][answer.what > ACTOR_AT_ONCE] = answer;
    p->has[answer.thread][answer.what > ACTOR_AT_ONCE] = true;
    return true;
}

const struct actor_answer *process_await(struct stage *s, const struct actor *a,
                                          enum actor_action what)
{
    struct stage_process *p = a->process;
    int kind = what > ACTOR_AT_ONCE;
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);

    while (!p->has[a->thread][kind]) {
        if (dlock_clock_ns() >= by_ns)
            stage_fail(s, "%s: \"%s\" was not answered within %d s", a->name,
                       actor_words(what, false), SCENARIO_STEP_MS / 1000);
        take_answer(s, p, dlock_clock_poll_ms(by_ns));
    }
    p->has[a->thread][kind] = false;
    return &p->answers[a->thread][kind];
}

bool process_has_answered(struct stage *s, const struct actor *a)
{
    while (take_answer(s, a->process, 0))
        ;
    return a->process->has[a->thread][0];
}

/* A process that hangs or does not listen is killed; the history knows its end from its
 * last sign of life. */
void process_end(struct stage_process *p, bool is_busy)
{
    struct actor_order order = {.what = ACTOR_END};

    if (p->child.pid > 0) {
        child_signal(&p->child, SIGCONT);
        if (is_busy || !p->is_open ||
            send(p->fd, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            child_signal(&p->child, SIGKILL);
        if (!child_wait(&p->child, END_MS, NULL))
            child_end(&p->child, SIGKILL, END_MS);
    }
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

void stage_end_processes(struct stage *s)
{
    for (int i = 0; i < s->process_count; i++) {
        bool is_busy = false;

        for (int j = 0; j < s->actor_count; j++)
            is_busy |= s->actors[j].process == &s->processes[i] && s->actors[j].is_busy;
        process_end(&s->processes[i], is_busy);
    }
}
