/* SPDX-License-Identifier: MIT */
/* start.c -- starts the servers of a lab, and adds topologies to one that is up. */
#include "loadtest/lab/lab.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/http/token.h"
#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/progress.h"
#include "loadtest/kit/shell.h"
#include "loadtest/lab/kind.h"
#include "loadtest/lab/topology.h"

enum { POLL_MS = 10, END_MS = 10000, STARTS = 4 };

static bool keep_ports(struct lab *lab, int first)
{
    for (int i = first; i < lab->server_count; i++)
        if (!lab_reserve_port(&lab->servers[i]))
            return false;
    return true;
}

static bool prepare(struct lab *lab, lab_topologies wanted)
{
    char path[FILES_PATH_MAX];

    files_random_hex(lab->id, LAB_SECRET_LEN / 2);
    files_random_hex(lab->lab_password, LAB_SECRET_LEN / 2);
    files_random_hex(lab->service_password, LAB_SECRET_LEN / 2);
    files_random_hex(lab->redis_password, LAB_SECRET_LEN / 2);
    lab->server_count = 0;
    lab->partition_count = 1;
    for (unsigned t = 0; t < LAB_TOPOLOGY_COUNT; t++)
        if (t == LAB_TOPOLOGY_CORE || wanted & 1u << t)
            lab_servers_add(lab, (enum lab_topology)t);
    /* The state file comes first, since it marks the directory as a lab. */
    if (!keep_ports(lab, 0) || !lab_state_write(lab))
        return false;
    files_join(path, lab->dir, "token.key");
    if (token_keys_make(path))
        return true;
    eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

/* Wait for a server whose port was free for a moment before the server listened: another
 * process may have taken it.  Then the server ends, and one that no other server was told
 * of is started with another port. */
static bool wait_or_move(struct lab *lab, struct lab_server *server)
{
    for (int i = 1; i < STARTS && lab_role_count(server->role) == 1; i++) {
        int64_t deadline_ns = monotonic_ns() + LAB_READY_MS * 1000000LL;

        while (child_runs(&server->child) && !lab_server_answers(lab, server) &&
               !interrupted() && monotonic_ns() < deadline_ns)
            interrupt_sleep_ms(POLL_MS);
        if (child_runs(&server->child) || interrupted())
            break;
        eprintf("seckill: %s ended at once; trying another port\n", server->name);
        if (!lab_reserve_port(server) || !lab_server_start(lab, server))
            return false;
    }
    return lab_server_wait(lab, server);
}

/* Does it start as soon as there are ports, or when the servers before it work? */
static bool starts_at_once(enum lab_role role)
{
    enum lab_topology topology = lab_role_topology(role);

    return topology == LAB_TOPOLOGY_CORE ||
           (lab_role_topology((enum lab_role)(role - 1)) != topology &&
            !lab_topology_of(role)->is_late);
}

static bool start_role(struct lab *lab, enum lab_role role, int first)
{
    for (int i = first; i < lab->server_count; i++)
        if (lab->servers[i].role == role && !lab_server_start(lab, &lab->servers[i]))
            return false;
    return true;
}

/* Wait until the servers of a role are what their topology wants. */
static bool await_whole(const struct lab *lab, enum lab_role role)
{
    const struct lab_topology_row *topology = lab_topology_of(role);
    int64_t deadline_ns = monotonic_ns() + LAB_READY_MS * 1000000LL;
    char why[LAB_WHY_MAX];

    while (topology->stands && !topology->stands(lab, role, why)) {
        if (interrupted())
            return false;
        if (monotonic_ns() > deadline_ns) {
            eprintf("seckill: --%s does not come up: %s\n",
                    lab_topology_flag(lab_role_topology(role)), why);
            return false;
        }
        interrupt_sleep_ms(POLL_MS);
    }
    return true;
}

/* Make the servers of a role one topology, if that takes a step, and wait for it. */
static bool join(struct lab *lab, enum lab_role role)
{
    const struct lab_topology_row *topology = lab_topology_of(role);

    return (!topology->join || topology->join(lab, role)) && await_whole(lab, role);
}

/* Start the servers from the place `first` on that do not run, role by role, and wait for them. */
static bool finish_roles(struct lab *lab, int first)
{
    for (unsigned r = 0; r < LAB_ROLE_COUNT; r++) {
        enum lab_role role = (enum lab_role)r;
        bool is_there = false;

        if (!starts_at_once(role) && !start_role(lab, role, first))
            return false;
        for (int i = first; i < lab->server_count; i++) {
            struct lab_server *server = &lab->servers[i];

            if (server->role != role)
                continue;
            is_there = true;
            if (!(lab_kind_of(server)->may_lose_port ? wait_or_move(lab, server)
                                                     : lab_server_wait(lab, server)))
                return false;
        }
        if (is_there && !join(lab, role))
            return false;
    }
    return true;
}

static bool start_first_roles(struct lab *lab, int first)
{
    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++)
        if (role != LAB_POSTGRES && starts_at_once((enum lab_role)role) &&
            !start_role(lab, (enum lab_role)role, first))
            return false;
    return true;
}

static bool wait_initdb(struct lab *lab)
{
    struct lab_server *server = lab_server(lab, LAB_POSTGRES, 0);
    int status = -1;

    while (!child_wait(&server->child, POLL_MS, &status)) {
        if (interrupted())
            return false;
    }
    if (status != 0)
        lab_server_show_failure(lab, server, "could not be set up by initdb");
    return status == 0;
}

/* All at once: the others come up while initdb works. */
static bool start_servers(struct lab *lab)
{
    struct lab_server *postgres = lab_server(lab, LAB_POSTGRES, 0);

    return lab_postgres_init(lab, postgres) && start_first_roles(lab, 0) && wait_initdb(lab) &&
           lab_server_bring_up(lab, postgres) && lab_postgres_fill(lab) && finish_roles(lab, 0) &&
           lab_env_write(lab) && !interrupted();
}

enum exit_code lab_bring_up(struct lab *lab, lab_topologies wanted)
{
    if (!prepare(lab, wanted))
        return EXIT_UNAVAILABLE;
    if (!lab_postgres_make_root(lab))
        return EXIT_CANNOT_WRITE;
    return start_servers(lab) ? EXIT_VALID : EXIT_UNAVAILABLE;
}

/* Start the servers of a role that have ended, all before the first is waited for, since
 * some answer only together. */
static bool start_ended(struct lab *lab, enum lab_role role)
{
    bool has_ended[LAB_SERVER_MAX] = {false}, is_there = false;

    for (int i = 0; i < lab->server_count; i++) {
        struct lab_server *server = &lab->servers[i];

        has_ended[i] = server->role == role && !child_runs(&server->child);
        if (!has_ended[i])
            continue;
        is_there = true;
        progress_say("seckill: %s of the lab in %s has ended; starting it again", server->name,
                     lab->dir);
        lab_server_forget(lab, server);
        if (!lab_server_start(lab, server))
            return false;
    }
    for (int i = 0; i < lab->server_count; i++)
        if (has_ended[i] && !lab_server_wait(lab, &lab->servers[i]))
            return false;
    return !is_there || await_whole(lab, role);
}

enum exit_code lab_mend(struct lab *lab)
{
    char dir[SHELL_WORD_MAX];
    bool was_held, ok = true;

    if (lab_is_up(lab))
        return EXIT_VALID;
    if (!lab_change_begin(lab, &was_held))
        return EXIT_UNAVAILABLE;
    for (unsigned role = 0; ok && role < LAB_ROLE_COUNT; role++)
        ok = start_ended(lab, (enum lab_role)role);
    lab_change_end(lab, was_held);
    if (ok)
        return EXIT_VALID;
    if (!lab->owned)
        eprintf("  a new lab, without the data of this one: seckill lab down --dir=%s, and "
                "then: seckill lab up\n", shell_word(dir, lab->dir));
    return interrupted() ? EXIT_INTERRUPTED : EXIT_UNAVAILABLE;
}

/* End the server and remove its data.  Its log stays, since it has the reason of a failed start. */
static void discard(struct lab *lab, struct lab_server *server)
{
    char path[FILES_PATH_MAX];

    child_end(&server->child, SIGTERM, END_MS);
    lab_release_port(server);
    files_path(path, "%s/%s.conf", lab->dir, server->name);
    files_remove_tree(path);
    files_path(path, "%s/%s", lab->data_root, server->name);
    files_remove_tree(path);
}

enum exit_code lab_add(struct lab *lab, lab_topologies missing)
{
    int first = lab->server_count;

    fputs("seckill: starting ", stderr);
    lab_topologies_print(missing);
    eprintf(" in the lab in %s\n", lab->dir);
    for (unsigned t = 0; t < LAB_TOPOLOGY_COUNT; t++)
        if (missing & 1u << t)
            lab_servers_add(lab, (enum lab_topology)t);
    if (keep_ports(lab, first) && start_first_roles(lab, first) && finish_roles(lab, first) &&
        lab_env_write(lab) && !interrupted())
        return EXIT_VALID;
    for (int i = first; i < lab->server_count; i++)
        discard(lab, &lab->servers[i]);
    lab->server_count = first;
    lab_state_write(lab);
    return interrupted() ? EXIT_INTERRUPTED : EXIT_UNAVAILABLE;
}
