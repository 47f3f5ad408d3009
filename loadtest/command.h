/* SPDX-License-Identifier: MIT */
/* command.h -- the subcommands of `seckill`. */
#ifndef LOADTEST_COMMAND_H
#define LOADTEST_COMMAND_H

/* Name and one line of help; the function is command_NAME(). */
#define COMMANDS(X)                                                                    \
    X(compare, "every lock under every hazard, audited: who oversells, who does not")  \
    X(lab, "the private servers: up, down, status, restart")                           \
    X(seed, "make users with tokens, and vouchers with stock")                         \
    X(load, "the service under load once, with your flags, and the audit")             \
    X(audit, "judge a run: oversold, duplicates, lost updates, phantom answers")       \
    X(locks, "the table of locks: what each promises and what breaks it")              \
    X(bench, "orders per second over HTTP beside pgbench running the same SQL")

/* Each takes its own argv (argv[0] is the subcommand) and returns the exit status. */
#define X(name, help) int command_##name(int argc, char **argv);
COMMANDS(X)
#undef X

#endif /* LOADTEST_COMMAND_H */
