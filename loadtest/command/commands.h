/* SPDX-License-Identifier: MIT */
/* commands.h -- the subcommands of `seckill`. */
#ifndef LOADTEST_COMMAND_COMMANDS_H
#define LOADTEST_COMMAND_COMMANDS_H

#include "base/text/settings.h"

/* Identifier, name and one line of help; the function is command_IDENTIFIER(). */
#define COMMANDS(X)                                                                    \
    X(compare, "compare",                                                              \
      "every lock under every hazard, audited: who oversells, who does not")           \
    X(lab, "lab", "the private servers: up, down, status, restart")                    \
    X(seed, "seed", "make users with tokens, and vouchers with stock")                 \
    X(load, "load", "the service under load once, with your flags, and the audit")     \
    X(show, "show",                                                                    \
      "a sale on one page of a browser: stock, verdict, lanes; faults on buttons")     \
    X(audit, "audit",                                                                  \
      "judge a run: oversold, duplicates, lost updates, phantom answers")              \
    X(check, "check",                                                                  \
      "judge the locks of a run: two holders at once, and whose fault it was")         \
    X(scenario, "scenario",                                                            \
      "the articles' stories on real servers: watch each lock break or hold")          \
    X(matrix, "matrix",                                                                \
      "every scenario under every lock, with several seeds and load")                  \
    X(report, "report",                                                                \
      "a run, or two runs beside each other, as one HTML file for reading and printing") \
    X(proxy, "proxy",                                                                  \
      "a wire to any server that fails on command: hold, drop, delay, cut")            \
    X(fault, "fault", "break one server of a lab by hand, and see the proof")           \
    X(locks, "locks", "the table of locks: what each promises and what breaks it")     \
    X(lock, "lock", "look at one lock in its store, or free it by force")              \
    X(bench, "bench",                                                                  \
      "orders per second over HTTP beside pgbench running the same SQL")               \
    X(bench_locks, "bench-locks",                                                      \
      "locks per second beside blocking connections and redis-benchmark")              \
    X(plan, "plan", "the servers that a sale needs, from rates that bench measured")       \
    X(help, "help", "this list, more about one command, or all environment variables")

/* Each command takes its own argv (argv[0] is the subcommand) and returns the exit status. */
#define X(id, name, help)                                                              \
    int command_##id(int argc, char **argv);                                           \
    extern const struct setting_program command_##id##_program;
COMMANDS(X)
#undef X

#endif /* LOADTEST_COMMAND_COMMANDS_H */
