/* SPDX-License-Identifier: MIT */
/* command.h -- the subcommands of `seckill`. */
#ifndef LOADTEST_COMMAND_H
#define LOADTEST_COMMAND_H

#include "base/exit_codes.h"
#include "base/settings.h"

/* Identifier, name and one line of help; the function is command_IDENTIFIER(). */
#define COMMANDS(X)                                                                    \
    X(compare, "compare",                                                              \
      "every lock under every hazard, audited: who oversells, who does not")           \
    X(lab, "lab", "the private servers: up, down, status, restart")                    \
    X(seed, "seed", "make users with tokens, and vouchers with stock")                 \
    X(load, "load", "the service under load once, with your flags, and the audit")     \
    X(audit, "audit",                                                                  \
      "judge a run: oversold, duplicates, lost updates, phantom answers")              \
    X(check, "check",                                                                  \
      "judge the locks of a run: two holders at once, and whose fault it was")         \
    X(scenario, "scenario",                                                            \
      "the articles' stories on real servers: watch each lock break or hold")          \
    X(matrix, "matrix",                                                                \
      "every scenario under every lock, with several seeds and load")                  \
    X(proxy, "proxy",                                                                  \
      "a wire to any server that fails on command: hold, drop, delay, cut")            \
    X(fault, "fault", "break one server of a lab by hand, and see the proof")           \
    X(locks, "locks", "the table of locks: what each promises and what breaks it")     \
    X(lock, "lock", "look at one lock in its store, or free it by force")              \
    X(bench, "bench",                                                                  \
      "orders per second over HTTP beside pgbench running the same SQL")               \
    X(bench_locks, "bench-locks",                                                      \
      "locks per second beside blocking connections and redis-benchmark")

/* Each takes its own argv (argv[0] is the subcommand) and returns the exit status. */
#define X(id, name, help)                                                              \
    int command_##id(int argc, char **argv);                                           \
    extern const struct setting_program command_##id##_program;
COMMANDS(X)
#undef X

/* What a command does once its settings are read; `values` is its own struct of them. */
typedef enum exit_code command_fn(const struct settings *s, const void *values);

/* Read the settings and run the command, unless --help or a mistake came first. */
int command_run(const struct setting_program *program, void *values, int argc,
                char **argv, command_fn *run);

/* The same for a command that takes minutes: at its end stderr says its exit status in
 * words, since make and other callers show only that it was not 0. */
int command_run_long(const struct setting_program *program, void *values, int argc,
                     char **argv, command_fn *run);

/* What the exit status of this program's command stands for this time, such as "3 cells
 * are unknown: ...", instead of the general words. */
void command_explain_exit(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Settings that several commands have. */
#define COMMAND_DIR(at)                                                                \
    {                                                                                  \
        .type = SETTING_TEXT, .name = "dir", .offset = (at), .meta = "DIR",            \
        .group = "Options", .shared = "lab-dir",                                       \
        .help = "the lab's directory; .lab in this directory if nothing says another"  \
    }
#define COMMAND_OWN_DIR(at)                                                            \
    {                                                                                  \
        .type = SETTING_TEXT, .name = "dir", .offset = (at), .meta = "DIR",            \
        .group = "Options", .shared = "lab-dir",                                       \
        .help = "the lab's directory; .lab in this directory if nothing says "         \
                "another.  If no lab is up there, one is started, and stopped at the " \
                "end"                                                                  \
    }
#define COMMAND_OUT(at)                                                                \
    {                                                                                  \
        .type = SETTING_TEXT, .name = "out", .offset = (at), .fallback = "runs",       \
        .meta = "DIR", .group = "Options", .shared = "out",                            \
        .output = SETTING_WRITES_DIRECTORY,                                            \
        .help = "where this run makes its own directory"                               \
    }

#endif /* LOADTEST_COMMAND_H */
