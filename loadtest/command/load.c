/* SPDX-License-Identifier: MIT */
/* load.c -- `seckill load`: the service under load once, with flags of one's choice. */
#include <stdlib.h>
#include <string.h>

#include "base/text/settings.h"
#include "loadtest/audit/audit.h"
#include "loadtest/audit/report.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/open_loop/rated_load.h"
#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/sale/run.h"
#include "loadtest/sale/users.h"

enum {
    USERS_NEEDED = 20000,
    USERS_BESIDE = 200000, /* for wrk, whose run is as long as one at a fixed rate          */
    VOUCHERS_MAX = 16,
    CONNECTIONS_MAX = 1024,
    SLOT_MS = 4,
    SLOT_USERS = 100,
    RATE_CONNECTIONS = 128,    /* at a fixed rate they are a limit, and not the load        */
    RATE_STOCK = 1000000000,   /* a stock that is sold out would change what is measured     */
};

struct load_settings {
    const char *dir, *out, *face, *users, *color, *rate, *objective;
    int64_t processes, connections, stock, vouchers, duration_ms, pause_ms;
    bool record, beside_wrk;
    struct open_loop open; /* what --rate and --objective say                          */
    char **flags; /* for the service; NULL at the end */
};

static const char *face_name(size_t i)
{
    static const char *const choices[] = {"hmdp", "v1"};

    return i < sizeof choices / sizeof choices[0] ? choices[i] : NULL;
}

static const char *users_name(size_t i)
{
    static const char *const choices[] = {"different", "same"};

    return i < sizeof choices / sizeof choices[0] ? choices[i] : NULL;
}

#define AT(field) offsetof(struct load_settings, field)
static const struct setting settings[] = {
    OPTION(COUNT, "processes", AT(processes), .fallback = "2", .meta = "N", .min = 1,
           .max = SERVICE_MAX, .help = "how many seckilld processes"),
    OPTION(COUNT, "connections", AT(connections), .fallback = "32", .meta = "N", .min = 1,
           .max = CONNECTIONS_MAX,
           .help = "wrk's connections, all processes together; with --rate the most that "
                   "are used, 128 unless it is given"),
    OPTION(COUNT, "stock", AT(stock), .fallback = "1000", .meta = "N", .min = 0,
           .max = 2000000000,
           .help = "stock of each voucher; with --rate a thousand million unless it is "
                   "given"),
    OPTION(COUNT, "vouchers", AT(vouchers), .fallback = "1", .meta = "N", .min = 1,
           .max = VOUCHERS_MAX, .help = "how many vouchers are on sale"),
    OPTION(DURATION, "duration", AT(duration_ms), .fallback = "10s", .meta = "TIME",
           .min = 100, .max = 3600000,
           .help = "how long at most; it ends earlier when everything is sold. With "
                   "--rate: how long each step is"),
    OPTION(CHOICE, "users", AT(users), .fallback = "different", .choices = users_name,
           .help = "a different user in each request, or the same one from everywhere at "
                   "once"),
    OPTION(CHOICE, "face", AT(face), .fallback = "hmdp", .choices = face_name,
           .help = "which of the service's two faces"),
    OPTION(SWITCH, "record", AT(record), .fallback = "off",
           .help = "record every lock call and every write, for `seckill check`"),
    {.type = SETTING_LINES,
     .name = "objective",
     .offset = AT(objective),
     .meta = "LIMIT",
     .group = "Options",
     .help = "a limit to be kept, such as 'p99<50ms' or 'oversold=0'; may be given again.  Names: "
             OBJECTIVE_NAMES ".  Signs: < <= = >= >.  A limit that is missed, or that nothing "
             "was measured for, ends with the exit status 3.  With --rate the highest rate that "
             "keeps all is named"},
    COMMAND_OUT(AT(out)),
    COMMAND_OWN_DIR(AT(dir)),
    COMMAND_COLOR(AT(color)),
    {.type = SETTING_TEXT,
     .name = "rate",
     .offset = AT(rate),
     .meta = "N[..M[/STEP]]",
     .group = "At a fixed rate",
     .help = "send so many requests per second whatever the answers do, in place of wrk; "
             "latency counts from the moment when a request was due. 1000..20000/1000: one "
             "step after another, each for --duration"},
    {.type = SETTING_DURATION,
     .name = "pause",
     .offset = AT(pause_ms),
     .fallback = "0",
     .meta = "TIME",
     .min = 0,
     .max = 60000,
     .group = "At a fixed rate",
     .help = "stop all seckilld processes for so long in the middle of each step"},
    {.type = SETTING_SWITCH,
     .name = "beside-wrk",
     .offset = AT(beside_wrk),
     .fallback = "off",
     .group = "At a fixed rate",
     .help = "run wrk afterwards with the same connections, duration and pause, into the same "
             "table and file"},
};

const struct setting_program command_load_program = {
    .name = "seckill load",
    .passes_to = "seckilld",
    .synopsis = "[OPTIONS] [-- SECKILLD FLAGS]",
    .intro = "Start seckilld processes, run wrk against them, stop them and audit the "
             "sale.\n"
             "wrk sends its next request when the last one is answered; with --rate requests "
             "are sent\n"
             "at a fixed rate, whatever the answers do.\n"
             "What stands after -- goes to each seckilld.  Unless it says otherwise the "
             "duplicate\n"
             "guard is `count`, under which a lock that fails is seen to fail.  A process sells by\n"
             "--order-path=combined; with `each` its threads race as well.\n\n"
             "  seckill load\n"
             "  seckill load --stock=100 -- --lock=naive --lock-scope=voucher \\\n"
             "      --stock-guard=read-write --duplicate-guard=none\n"
             "  seckill load --users=same --vouchers=2 -- --lock=local\n"
             "  seckill load --rate=1000..8000/1000 --objective='p99<50ms' \\\n"
             "      --objective='failed<0.1%' -- --lock=reentrant\n"
             "  seckill load --rate=1000 --pause=500ms --beside-wrk",
    EXITS({EXIT_VALID, "the audit says that the run is valid"},
          {EXIT_INVALID, "the audit says that it is invalid"},
          {EXIT_UNKNOWN, "the audit depends on answers that never came"},
          {EXIT_THRESHOLD, "an objective is missed, or nothing was measured for it; with "
                           "--rate: no rate keeps them"},
          {EXIT_USAGE, NULL}, {EXIT_UNAVAILABLE, NULL}, {EXIT_BUG, NULL},
          {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    .settings = settings,
    .count = sizeof settings / sizeof settings[0],
};

/* The part of wrk's output that our script prints. */
static void print_outcomes(const char *dir)
{
    char path[FILES_PATH_MAX];
    char *text, *part;

    files_join(path, dir, "wrk.txt");
    text = files_read(path, NULL);
    part = text ? strstr(text, "Orders for voucher") : NULL;
    if (part)
        printf("%s\n", part);
    free(text);
}

/* The guard that the service has by itself would hide what a broken lock does.  A flag
 * that comes later wins. */
static const char **service_flags(char *const *theirs)
{
    size_t count = 0, n = 0;
    const char **all;

    while (theirs[count])
        count++;
    all = calloc(count + 2, sizeof *all);
    if (!all)
        abort();
    all[n++] = "--duplicate-guard=count";
    for (size_t i = 0; i < count; i++)
        all[n++] = theirs[i];
    return all;
}

/* Hold the objectives against the run, and say first which one is missed. */
static enum exit_code judge(const struct load_settings *v, const struct run_plan *plan,
                            const struct run_result *result, enum exit_code rc)
{
    const struct objectives *objectives = &v->open.objectives;
    struct wrk_figures figures;
    struct measured measured;
    char says[OBJECTIVE_SAYS_MAX];

    if (objectives->count == 0)
        return rc;
    wrk_figures_read(&figures, plan->dir, result);
    measured = wrk_measured(&figures);
    objectives_print(stdout, objectives, &measured);
    putchar('\n');
    rc = objectives_exit(objectives, &measured, rc);
    if (rc == EXIT_THRESHOLD && objectives_first_missed(objectives, &measured, says))
        command_explain_exit("%s", says);
    return rc;
}

static enum exit_code run_wrk(const struct run_plan *plan, const struct load_settings *v)
{
    struct run_result *result = memory_need(calloc(1, sizeof *result));
    enum exit_code rc = run_once(plan, result);

    if (rc == EXIT_VALID || rc == EXIT_INTERRUPTED) {
        if (rc == EXIT_VALID)
            rc = verdict_exit(result->verdict.valid);
        print_outcomes(plan->dir);
        printf("%d clients started within %.2f ms%s\n", result->start.fired,
               result->start.spread_ms,
               result->start.by_signal == result->start.fired
                   ? ""
                   : ", not all of them by the start signal");
        printf("%.0f accepted orders per second, p99 %.1f ms\n\n", result->orders_per_s,
               result->p99_ms);
        rc = judge(v, plan, result, rc);
        report_verdict(stdout, &result->verdict, "the database, after the run");
        printf("\nkept in %s\n", plan->dir);
        if (v->record)
            printf("who held which lock when: seckill check %s\n", plan->dir);
    }
    free(result);
    return rc;
}

static enum exit_code run_rates(const struct run_plan *plan, const struct load_settings *v)
{
    struct rated_load load = {.open = v->open,
                              .out = v->out,
                              .is_beside_wrk = v->beside_wrk};
    struct token_keys keys;
    char path[FILES_PATH_MAX];

    files_join(path, plan->lab->dir, "token.key");
    if (!users_load_keys(path, &keys))
        return EXIT_UNAVAILABLE;
    load.open.keys = &keys;
    load.open.face = v->face;
    load.open.is_same_user = plan->is_per_user;
    load.open.connections = plan->connections;
    load.open.duration_ms = v->duration_ms;
    load.open.pause_ms = v->pause_ms;
    return rated_load(&load, plan);
}

static enum exit_code run_in(const struct lab *lab, lab_db *db,
                             const struct load_settings *v)
{
    char dir[FILES_PATH_MAX];
    const char **flags = service_flags(v->flags);
    struct run_plan plan = {
        .lab = lab,
        .db = db,
        .dir = dir,
        .flags = flags,
        .hazard = hazard_find("calm"),
        .processes = (int)v->processes,
        .connections = (int)v->connections,
        .stock = v->stock,
        .voucher_count = (int)v->vouchers,
        .duration_ms = v->duration_ms,
        .is_per_user = strcmp(v->users, "same") == 0,
        .slot_ms = SLOT_MS,
        .slot_users = SLOT_USERS,
        .face = v->face,
        .record = v->record,
    };
    enum exit_code rc = EXIT_CANNOT_WRITE;

    if (plan.connections < plan.processes)
        plan.connections = plan.processes;
    if (runs_make(dir, v->out))
        rc = v->rate ? run_rates(&plan, v) : run_wrk(&plan, v);
    free(flags);
    return rc;
}

static bool read_objectives(struct load_settings *v)
{
    char why[OBJECTIVE_WHY_MAX];

    if (!v->objective || (objectives_parse(v->objective, &v->open.objectives, why) &&
                          (v->rate || objectives_suit_wrk(&v->open.objectives, why))))
        return true;
    fprintf(stderr, "seckill load: --objective: %s\n", why);
    return false;
}

/* The settings of a fixed rate: false: said on stderr what is wrong with them. */
static bool read_rate(const struct settings *s, struct load_settings *v)
{
    char why[OBJECTIVE_WHY_MAX];

    if (!v->rate) {
        if (v->pause_ms > 0 || v->beside_wrk)
            fprintf(stderr, "seckill load: --%s needs --rate, such as --rate=1000\n",
                    v->pause_ms > 0 ? "pause" : "beside-wrk");
        return v->pause_ms == 0 && !v->beside_wrk;
    }
    if (!rate_parse(v->rate, &v->open.rates, why)) {
        fprintf(stderr, "seckill load: --rate=%s, %s\n", v->rate, why);
        return false;
    }
    if (v->pause_ms * 2 > v->duration_ms) {
        fprintf(stderr, "seckill load: --pause may be half of --duration at most\n");
        return false;
    }
    if (settings_is_default(s, AT(stock)))
        v->stock = RATE_STOCK;
    if (settings_is_default(s, AT(connections)))
        v->connections = RATE_CONNECTIONS;
    return true;
}

/* Does the service's --lock need one?  The last one counts, as it does there. */
static bool needs_zookeeper(char *const *flags)
{
    bool needs = false;

    for (size_t i = 0; flags[i]; i++) {
        if (strncmp(flags[i], "--lock=", 7) == 0)
            needs = lab_lock_needs_zookeeper(flags[i] + 7);
        else if (strcmp(flags[i], "--lock") == 0 && flags[i + 1])
            needs = lab_lock_needs_zookeeper(flags[i + 1]);
    }
    return needs;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    struct load_settings copy = *(const struct load_settings *)values, *v = &copy;
    char url[256], error[512];
    struct lab lab;
    lab_db *db = NULL;
    enum exit_code rc;

    if (!read_objectives(v) || !read_rate(s, v))
        return EXIT_USAGE;
    rc = lab_open(&lab, lab_choose_dir(v->dir), needs_zookeeper(v->flags));
    if (rc != EXIT_VALID)
        return rc;
    lab_database_url(&lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error)) {
        fprintf(stderr, "seckill load: %s\n", error);
        rc = EXIT_UNAVAILABLE;
    } else if (!users_ensure(&lab, v->beside_wrk ? USERS_BESIDE : USERS_NEEDED)) {
        rc = EXIT_UNAVAILABLE;
    } else {
        rc = run_in(&lab, db, v);
    }
    lab_db_close(db);
    lab_close(&lab);
    return rc;
}

int command_load(int argc, char **argv)
{
    struct load_settings values = {0};
    int split = 1;

    /* The words after "--" are the service's. */
    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    values.flags = argv + (split < argc ? split + 1 : split);
    return command_run_long(&command_load_program, &values, split, argv, run);
}
