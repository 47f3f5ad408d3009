/* SPDX-License-Identifier: MIT */
/* commands.h -- the subcommands of `seckill`. */
#ifndef LOADTEST_COMMAND_COMMANDS_H
#define LOADTEST_COMMAND_COMMANDS_H

#include "base/text/settings.h"

/* X(identifier, name, one line of help); the function is command_IDENTIFIER(). */
#define COMMANDS(X)                                                                    \
    X(compare, "compare",                                                              \
      "every lock under every hazard, audited: which locks oversell")                  \
    X(lab, "lab", "the private servers: up, down, status, restart, kill")              \
    X(seed, "seed", "create users with tokens, and vouchers with stock")               \
    X(load, "load", "one run of the service under load, with your flags, and its audit") \
    X(show, "show",                                                                    \
      "a sale on a page in a browser, where keys inject faults")                       \
    X(audit, "audit",                                                                  \
      "judge the data of a run: oversold, duplicates, lost updates, phantom answers")  \
    X(check, "check",                                                                  \
      "judge the locks of a run: broken promises, and the cause of each")              \
    X(scenario, "scenario",                                                            \
      "the articles' stories on real servers: watch each lock break or hold")          \
    X(matrix, "matrix",                                                                \
      "every scenario under every lock, with several seeds and load")                  \
    X(report, "report",                                                                \
      "a run, or two runs beside each other, as one HTML file for reading and printing") \
    X(proxy, "proxy",                                                                  \
      "a proxy before a server that fails on command: hold, drop, delay, cut")         \
    X(fault, "fault", "break one server of a lab, and print the proof")                 \
    X(locks, "locks", "the table of locks: the promise of each, and what breaks it")   \
    X(lock, "lock", "show one lock in its store, or free it by force")                 \
    X(bench, "bench",                                                                  \
      "orders per second over HTTP, compared with pgbench with the same SQL")          \
    X(bench_locks, "bench-locks",                                                      \
      "locks per second, compared with blocking connections and redis-benchmark")      \
    X(help, "help", "this list, more about one command, or all environment variables")

/* Each command takes its own argv (argv[0] is the subcommand) and returns the exit status. */
#define X(id, name, help)                                                              \
    int command_##id(int argc, char **argv);                                           \
    extern const struct setting_program command_##id##_program;
COMMANDS(X)
#undef X

#endif /* LOADTEST_COMMAND_COMMANDS_H */
