/* SPDX-License-Identifier: MIT */
/* lab.c -- `seckill lab up|down|status|restart|kill`. */
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"

#include <string.h>

#include "base/text/settings.h"
#include "base/text/suggest.h"
#include "loadtest/kit/shell.h"
#include "loadtest/lab/lab.h"

struct lab_settings {
    const char *dir;
    bool wanted[LAB_TOPOLOGY_COUNT];
    int64_t partitions;
};

static const struct setting settings[] = {
    COMMAND_DIR(offsetof(struct lab_settings, dir)),
    OPTION(COUNT, "partitions", offsetof(struct lab_settings, partitions), .fallback = "0",
           .meta = "N", .min = 0, .max = LAB_PARTITIONS_MAX,
           .help = "up: spread vouchers over N databases of the PostgreSQL; if the lab is up, "
                   "it gets the missing databases"),
#define TOPOLOGY(id, file, flag, adds)                                                 \
    OPTION(SWITCH, flag, offsetof(struct lab_settings, wanted[LAB_TOPOLOGY_##id]),     \
           .fallback = "off", .help = "up: with " adds),
#include "loadtest/lab/topologies.def"
#undef TOPOLOGY
};

const struct setting_program command_lab_program = {
    .name = "seckill lab",
    .synopsis = "up|down|status|restart SERVER|kill SERVER [--dir=DIR] [--TOPOLOGY...]",
    .intro =
        "Start and stop the private servers: one PostgreSQL cluster and six Redis servers on\n"
        "free loopback ports, and the topologies of the flags.  All their files are in one\n"
        "directory.  Other servers of this machine are not touched.\n\n"
        "  seckill lab up             start a lab, unless all its servers run.  A server that has\n"
        "                             ended is started again, with the data that it wrote\n"
        "  seckill lab up --zookeeper also start a ZooKeeper, in a lab that is up too\n"
        "  seckill lab up --partitions=4    spread vouchers over four databases\n"
        "  . .lab/env                 then psql \"$SECKILL_LAB_DATABASE_URL\" and\n"
        "                             build/seckilld work in this shell\n"
        "  seckill lab status         addresses of the servers, state of the topologies\n"
        "  seckill lab restart redis  or another name that status prints\n"
        "  seckill lab kill redis     as a loss of power would; then: seckill lab restart redis\n"
        "  seckill lab down           stop them and remove the directory\n\n"
        "A topology is several servers that work as one system and survive the loss of one\n"
        "server.  A client reaches the topology by its address in .lab/env.\n\n"
        "  seckill lab up --sentinel && . .lab/env\n"
        "  build/seckilld --redis-url=\"$SECKILL_LAB_SENTINEL_URL\"\n\n"
        "The data of PostgreSQL and ZooKeeper is in the directory of the lab.  SECKILL_LAB_DATA\n"
        "names another directory for this data, such as /dev/shm.  Every command that starts\n"
        "a lab reads this variable, and the end of the lab removes the data there.",
    EXITS({EXIT_VALID, "done; of status: all servers run, and all topologies are whole"},
          {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, "a server is missing, is stopped, does not start or refuses "
                             "clients"},
          {EXIT_CANNOT_WRITE, "the directory cannot be made, written or removed"},
          {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
    .max_operands = 2,
};

/* "redlock on 1 2 3" */
static void print_role(const struct lab *lab, enum lab_role role)
{
    const char *name = lab_server_name(lab, role, 0);

    printf(", %.*s on", (int)strcspn(name, "-"), name);
    for (int i = 0; i < lab_role_count(role); i++)
        printf(" %d", lab_port(lab, role, i));
}

/* Is the server stopped, as SIGSTOP stops it?  Its process is there and does nothing. */
static bool is_stopped(const struct lab_server *server)
{
    return child_runs(&server->child) && !child_works(&server->child);
}

static void say_stopped(FILE *out, const char *before, const struct lab_server *server)
{
    fprintf(out, "%s%s is stopped and answers no client; to continue it: kill -CONT %d\n", before,
            server->name, (int)server->child.pid);
}

/* Of a lab that is up: false (said on stderr) if a server of it is stopped. */
static bool all_work(const struct lab *lab)
{
    bool all = true;

    for (int i = 0; i < lab->server_count; i++) {
        if (!is_stopped(&lab->servers[i]))
            continue;
        say_stopped(stderr, "seckill lab up: ", &lab->servers[i]);
        all = false;
    }
    return all;
}

/* The request to a lab, beside its directory. */
struct request {
    const char *server; /* NULL: none was named */
    lab_topologies wanted;
    int partitions; /* 0: as many as there are */
};

static enum exit_code up(const char *dir, const struct request *request)
{
    struct lab lab;
    bool was_up = false;
    enum exit_code rc = lab_keep(&lab, dir, request->wanted, &was_up);

    if (rc == EXIT_VALID && request->partitions > 0)
        rc = lab_spread(&lab, request->partitions);
    if (rc != EXIT_VALID)
        return rc;
    if (!all_work(&lab))
        return EXIT_UNAVAILABLE;
    printf("%s: postgres on 127.0.0.1:%d", was_up ? "already up" : "up",
           lab_port(&lab, LAB_POSTGRES, 0));
    for (unsigned role = LAB_POSTGRES + 1; role < LAB_ROLE_COUNT; role++)
        if (lab_port(&lab, (enum lab_role)role, 0) != 0)
            print_role(&lab, (enum lab_role)role);
    if (lab.partition_count > 1)
        printf(", %d partitions", lab.partition_count);
    printf("\nuse it in this shell:  . ");
    shell_print_path(stdout, dir, "env");
    putchar('\n');
    return EXIT_VALID;
}

static enum exit_code down(const char *dir, const struct request *request)
{
    bool was_there = false;
    enum exit_code rc = lab_remove(dir, &was_there);

    (void)request;
    if (rc == EXIT_VALID)
        printf(was_there ? "down: %s is removed\n" : "nothing to do: there is no %s\n",
               dir);
    return rc;
}

static bool tell_topologies(const struct lab *lab)
{
    char why[LAB_WHY_MAX];
    bool all_stand = true;

    for (unsigned t = LAB_TOPOLOGY_CORE + 1; t < LAB_TOPOLOGY_COUNT; t++) {
        if (lab_topology_stands(lab, (enum lab_topology)t, why))
            continue;
        printf("--%s is not whole: ", lab_topology_flag((enum lab_topology)t));
        why_print(stdout, why);
        putchar('\n');
        all_stand = false;
    }
    return all_stand;
}

/* False: the server is there, and serves no client. */
static bool tell_server(const struct lab *lab, const struct lab_server *server)
{
    char part[LAB_PART_MAX] = "", word[SHELL_WORD_MAX];
    bool runs = child_runs(&server->child), works = runs && !is_stopped(server);
    bool is_full = works && lab_server_kind(server) == LAB_IS_REDIS &&
                   lab_redis_is_full(lab, server);

    if (works)
        lab_server_describe(lab, server, part);
    printf("%-10s 127.0.0.1:%-5d pid %-7d %s%s%s\n", server->name, server->port,
           (int)server->child.pid, works ? "up" : runs ? "STOPPED" : "DOWN",
           part[0] != '\0' ? ", " : "", part);
    if (runs && !works)
        say_stopped(stdout, "", server);
    if (is_full)
        printf("%s refuses more clients, since its maxclients is reached; to start it anew: "
               "seckill lab restart %s --dir=%s\n",
               server->name, server->name, shell_word(word, lab->dir));
    return !is_full && (works || !runs);
}

static enum exit_code status(const char *dir, const struct request *request)
{
    struct lab lab;
    enum lab_state state = lab_state_find(&lab, dir);
    char word[SHELL_WORD_MAX];
    bool all_serve = true;

    (void)request;
    if (state == LAB_STATE_NONE)
        printf("no lab in %s; start one: seckill lab up --dir=%s\n", dir,
               shell_word(word, dir));
    else if (state != LAB_STATE_READ)
        lab_state_complain(state, dir);
    if (state != LAB_STATE_READ)
        return EXIT_UNAVAILABLE;
    for (int i = 0; i < lab.server_count; i++)
        all_serve = tell_server(&lab, &lab.servers[i]) && all_serve;
    return tell_topologies(&lab) && lab_is_up(&lab) && all_serve ? EXIT_VALID : EXIT_UNAVAILABLE;
}

/* Do `verb` to a server, and say `done` at the end. */
static enum exit_code change(const char *dir, const char *name, const char *verb,
                             const char *done,
                             enum exit_code (*change_one)(struct lab *lab,
                                                          const char *name))
{
    struct lab lab;
    enum exit_code rc;

    if (!name) {
        eprintf("seckill lab %s: name a server, such as redis\n  see: seckill lab status\n", verb);
        return EXIT_USAGE;
    }
    if (!lab_state_read(&lab, dir))
        return lab_use(&lab, dir);
    rc = change_one(&lab, name);
    if (rc == EXIT_VALID)
        printf("%s: %s\n", done, name);
    return rc;
}

static enum exit_code restart(const char *dir, const struct request *request)
{
    return change(dir, request->server, "restart", "restarted", lab_restart);
}

static enum exit_code kill_one(const char *dir, const struct request *request)
{
    return change(dir, request->server, "kill", "killed", lab_kill);
}

static const struct action {
    const char *name;
    enum exit_code (*run)(const char *dir, const struct request *request);
    const char *instead; /* of a server: the advice; NULL: the action takes a server */
} actions[] = {
    {"up", up, "a topology is a flag, such as --sentinel"},
    {"down", down, "down removes the whole lab; to end one server: seckill lab kill SERVER"},
    {"status", status, "status shows all servers"},
    {"restart", restart, NULL},
    {"kill", kill_one, NULL},
};

static const char *action_name(size_t i)
{
    return i < sizeof actions / sizeof actions[0] ? actions[i].name : NULL;
}

static enum exit_code act(const struct action *action, const char *dir,
                          const struct request *request)
{
    if (!request->server || !action->instead)
        return action->run(dir, request);
    eprintf("seckill lab %s: unexpected \"%s\"\n  %s\n", action->name, request->server,
            action->instead);
    return EXIT_USAGE;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct lab_settings *v = values;
    const char *dir = lab_choose_dir(v->dir);
    const char *word = s->operand_count > 0 ? s->operands[0] : "";
    struct request request = {
        .server = s->operand_count > 1 ? s->operands[1] : NULL,
        .partitions = (int)v->partitions,
    };

    for (unsigned t = 0; t < LAB_TOPOLOGY_COUNT; t++)
        request.wanted |= v->wanted[t] ? 1u << t : 0;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, word) == 0)
            return act(&actions[i], dir, &request);
    }
    if (*word) {
        suggest_command(command_lab_program.name, word, action_name);
    } else {
        fputs("seckill lab: say what to do with the lab", stderr);
        suggest_tell(word, action_name);
    }
    return EXIT_USAGE;
}

COMMAND_FUNCTION(lab, command_run)
