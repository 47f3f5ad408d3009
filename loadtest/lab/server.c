/* SPDX-License-Identifier: MIT */
/* server.c -- one server of a lab: finds, starts, awaits, restarts and kills it. */
#include "loadtest/lab/kind.h"

#include <signal.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/shell.h"

enum { POLL_MS = 10, END_MS = 10000, SPARE_END_MS = 3000, GONE_MS = 5000 };

bool lab_server_answers(const struct lab *lab, const struct lab_server *server)
{
    return lab_kind_of(server)->answers(lab, server);
}

bool lab_server_start(struct lab *lab, struct lab_server *server)
{
    return lab_kind_of(server)->start(lab, server, lab_topology_of(server->role));
}

void lab_server_show_failure(const struct lab *lab, const struct lab_server *server,
                             const char *what)
{
    char path[FILES_PATH_MAX];

    lab_log_path(lab, server, path);
    eprintf("seckill: %s %s (127.0.0.1:%d); the end of its log:\n",
            server->name, what, server->port);
    files_print_tail(path);
}

bool lab_server_wait(struct lab *lab, struct lab_server *server)
{
    int64_t deadline_ns = monotonic_ns() + LAB_READY_MS * 1000000LL;

    while (!lab_server_answers(lab, server)) {
        if (interrupted())
            return false;
        if (!child_runs(&server->child)) {
            lab_server_show_failure(lab, server, "did not come up");
            return false;
        }
        if (monotonic_ns() > deadline_ns) {
            lab_server_show_failure(lab, server, "does not answer");
            return false;
        }
        interrupt_sleep_ms(POLL_MS);
    }
    lab_release_port(server);
    return true;
}

bool lab_server_bring_up(struct lab *lab, struct lab_server *server)
{
    return lab_server_start(lab, server) && lab_server_wait(lab, server);
}

void lab_server_forget(const struct lab *lab, const struct lab_server *server)
{
    if (lab_kind_of(server)->forget)
        lab_kind_of(server)->forget(lab, server);
}

bool lab_server_kill(const struct lab *lab, struct lab_server *server)
{
    struct child children[CHILD_CHILDREN_MAX];
    bool all_gone = true;
    size_t count;

    /* A stopped process has no more children, so none is overlooked. */
    child_signal(&server->child, SIGSTOP);
    count = child_children(&server->child, children);
    child_signal(&server->child, SIGKILL);
    for (size_t i = 0; i < count; i++)
        child_signal(&children[i], SIGKILL);
    for (size_t i = 0; i < count; i++)
        all_gone = child_wait(&children[i], GONE_MS, NULL) && all_gone;
    all_gone = child_wait(&server->child, GONE_MS, NULL) && all_gone;
    /* A zombie would look like a running server to the next start. */
    if (all_gone)
        lab_server_forget(lab, server);
    return all_gone;
}

bool lab_spare_start(struct lab *lab, const char *name, const struct lab_server *replaced)
{
    struct lab_server *spare = &lab->spare;

    lab_server_init(spare, LAB_REDIS, 0);
    snprintf(spare->name, sizeof spare->name, "%s", name);
    snprintf(spare->replaces, sizeof spare->replaces, "%s", replaced->name);
    if (!lab_reserve_port(spare))
        return false;
    if (lab_server_bring_up(lab, spare))
        return true;
    lab_spare_end(lab);
    return false;
}

void lab_spare_end(struct lab *lab)
{
    if (lab->spare.port == 0)
        return;
    lab_release_port(&lab->spare);
    child_end(&lab->spare.child, SIGTERM, SPARE_END_MS);
    lab->spare = (struct lab_server){.placeholder_fd = -1};
    lab_state_write(lab);
}

static enum exit_code restart(struct lab *lab, struct lab_server *server)
{
    int number = lab_kind_of(server)->stop_signal;
    char dir[SHELL_WORD_MAX];

    child_end(&server->child, number != 0 ? number : SIGTERM, END_MS);
    if (lab_server_bring_up(lab, server))
        return EXIT_VALID;
    if (!interrupted() || !child_runs(&server->child))
        return EXIT_UNAVAILABLE;
    if (!lab->owned)
        eprintf("seckill: %s was started again and comes up, but did not answer yet\n"
                "  see: seckill lab status --dir=%s\n", server->name, shell_word(dir, lab->dir));
    return EXIT_INTERRUPTED;
}

static enum exit_code kill_server(struct lab *lab, struct lab_server *server)
{
    if (lab_server_kill(lab, server))
        return EXIT_VALID;
    eprintf("seckill: %s was killed and still runs\n", server->name);
    return EXIT_UNAVAILABLE;
}

typedef enum exit_code server_fn(struct lab *lab, struct lab_server *server);

static enum exit_code change(struct lab *lab, const char *name, server_fn *change_one)
{
    struct lab_server *server = lab_find_server(lab, name);
    enum exit_code rc;
    bool was_held;

    if (!server) {
        eprintf("seckill: no server \"%s\" in this lab; it has:", name);
        for (int i = 0; i < lab->server_count; i++)
            eprintf(" %s", lab->servers[i].name);
        fputc('\n', stderr);
        return EXIT_USAGE;
    }
    if (!lab_change_begin(lab, &was_held))
        return EXIT_UNAVAILABLE;
    rc = change_one(lab, server);
    lab_change_end(lab, was_held);
    return rc;
}

enum exit_code lab_restart(struct lab *lab, const char *name)
{
    return change(lab, name, restart);
}

enum exit_code lab_kill(struct lab *lab, const char *name)
{
    return change(lab, name, kill_server);
}
