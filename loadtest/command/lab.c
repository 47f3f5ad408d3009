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
    bool zookeeper;
};

static const struct setting settings[] = {
    COMMAND_DIR(offsetof(struct lab_settings, dir)),
    OPTION(SWITCH, "zookeeper", offsetof(struct lab_settings, zookeeper),
           .fallback = "off", .help = "up: with a ZooKeeper, for the zk locks"),
};

const struct setting_program command_lab_program = {
    .name = "seckill lab",
    .synopsis = "up|down|status|restart SERVER|kill SERVER [--dir=DIR] [--zookeeper]",
    .intro =
        "The private servers: one PostgreSQL cluster and six Redis servers on free\n"
        "loopback ports; and one ZooKeeper, if it is asked for.  They belong to one\n"
        "directory and have nothing to do with the servers of this machine.\n\n"
        "  seckill lab up             start them, unless they are up\n"
        "  seckill lab up --zookeeper the same with ZooKeeper\n"
        "  . .lab/env                 then psql \"$SECKILL_LAB_DATABASE_URL\" and\n"
        "                             build/seckilld work in this shell\n"
        "  seckill lab status         who listens where\n"
        "  seckill lab restart redis  or postgres, zookeeper, redlock-1 to redlock-5\n"
        "  seckill lab kill redis     as a loss of power would; restart starts it again\n"
        "  seckill lab down           stop them and remove the directory\n\n"
        "PostgreSQL and ZooKeeper write into that directory too, or below another one\n"
        "that is named by SECKILL_LAB_DATA, such as /dev/shm: every command that starts a\n"
        "lab reads it, and whatever ends the lab removes what was written there.",
    EXITS({EXIT_VALID, "done; of status: all servers run"}, {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, "a server is missing or does not start"},
          {EXIT_CANNOT_WRITE, "the directory cannot be made or written"},
          {EXIT_INTERRUPTED, NULL}),
    .settings = settings,
    .count = sizeof settings / sizeof settings[0],
    .max_operands = 2,
};

static enum exit_code up(const char *dir, const char *name, bool zookeeper)
{
    struct lab lab;
    bool was_up = false;
    enum exit_code rc = lab_keep(&lab, dir, zookeeper, &was_up);

    (void)name;
    if (rc != EXIT_VALID)
        return rc;
    printf("%s: postgres on 127.0.0.1:%d, redis on %d, redlock on",
           was_up ? "already up" : "up", lab_port(&lab, LAB_POSTGRES, 0),
           lab_port(&lab, LAB_REDIS, 0));
    for (int i = 0; i < LAB_COUNT_REDLOCK; i++)
        printf(" %d", lab_port(&lab, LAB_REDLOCK, i));
    if (lab_has_zookeeper(&lab))
        printf(", zookeeper on %d", lab_port(&lab, LAB_ZOOKEEPER, 0));
    printf("\nuse it in this shell:  . ");
    shell_print_path(stdout, dir, "env");
    putchar('\n');
    return EXIT_VALID;
}

static enum exit_code down(const char *dir, const char *name, bool zookeeper)
{
    bool was_there = false;
    enum exit_code rc = lab_remove(dir, &was_there);

    (void)name;
    (void)zookeeper;
    if (rc == EXIT_VALID)
        printf(was_there ? "down: %s is removed\n" : "nothing to do: there is no %s\n",
               dir);
    return rc;
}

static enum exit_code status(const char *dir, const char *name, bool zookeeper)
{
    struct lab lab;

    (void)name;
    (void)zookeeper;
    if (!lab_state_read(&lab, dir)) {
        printf("no lab in %s; start one: seckill lab up --dir=%s\n", dir, dir);
        return EXIT_UNAVAILABLE;
    }
    for (int i = 0; i < lab.server_count; i++) {
        const struct lab_server *server = &lab.servers[i];

        printf("%-10s 127.0.0.1:%-5d pid %-7d %s\n", server->name, server->port,
               (int)server->child.pid, child_runs(&server->child) ? "up" : "DOWN");
    }
    return lab_is_up(&lab) ? EXIT_VALID : EXIT_UNAVAILABLE;
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
        fprintf(stderr, "seckill lab %s: which server?  For example: redis\n", verb);
        return EXIT_USAGE;
    }
    if (!lab_state_read(&lab, dir))
        return lab_use(&lab, dir);
    rc = change_one(&lab, name);
    if (rc == EXIT_VALID)
        printf("%s: %s\n", done, name);
    return rc;
}

static enum exit_code restart(const char *dir, const char *name, bool zookeeper)
{
    (void)zookeeper;
    return change(dir, name, "restart", "restarted", lab_restart);
}

static enum exit_code kill_one(const char *dir, const char *name, bool zookeeper)
{
    (void)zookeeper;
    return change(dir, name, "kill", "killed", lab_kill);
}

static const struct action {
    const char *name;
    enum exit_code (*run)(const char *dir, const char *name, bool zookeeper);
} actions[] = {{"up", up}, {"down", down}, {"status", status}, {"restart", restart},
             {"kill", kill_one}};

static const char *action_name(size_t i)
{
    return i < sizeof actions / sizeof actions[0] ? actions[i].name : NULL;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct lab_settings *v = values;
    const char *dir = lab_choose_dir(v->dir);
    const char *word = s->operand_count > 0 ? s->operands[0] : "";

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, word) == 0)
            return actions[i].run(dir, s->operand_count > 1 ? s->operands[1] : NULL,
                                  v->zookeeper);
    }
    if (*word)
        fprintf(stderr, "seckill lab: unknown command \"%s\"", word);
    else
        fputs("seckill lab: say what to do with the lab", stderr);
    suggest_tell(word, action_name);
    return EXIT_USAGE;
}

int command_lab(int argc, char **argv)
{
    struct lab_settings values = {0};

    return command_run(&command_lab_program, &values, argc, argv, run);
}
