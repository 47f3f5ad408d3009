/* SPDX-License-Identifier: MIT */
/* load.c -- `seckill load`: the service under load once, with flags of one's choice. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/settings.h"
#include "loadtest/audit/audit.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/json_lines.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/open_loop/open_loop.h"
#include "loadtest/open_loop/wrk_figures.h"
#include "loadtest/sale/hazard_catalogue.h"
#include "loadtest/sale/run.h"
#include "loadtest/sale/service_settings.h"
#include "loadtest/sale/users.h"

enum {
    VOUCHERS_MAX = 16,
    CONNECTIONS_MAX = 1024,
    LOCKS_MAX = 64,
    TITLE_MAX = 128,
    SLOT_MS = 4,
    SLOT_USERS = 100,
    RATE_CONNECTIONS = 128,    /* at a fixed rate they are a limit, and not the load        */
    RATE_STOCK = 1000000000,   /* a sold-out stock would change the measured work            */
    FEW_BUYERS = 100,          /* are not shared out to two processes of wrk                 */
};

struct load_settings {
    const char *dir, *out, *face, *users, *color, *rate, *objective, *locks;
    const char *url, *tokens;
    int64_t processes, connections, stock, vouchers, duration_ms, pause_ms, ramp_ms, voucher;
    bool front, record, beside_wrk, quiet, json_lines;
    struct open_loop open; /* the values of --rate and --objective                     */
    const struct remote_service *remote; /* that --url names; NULL: none               */
    char **flags; /* for the service; NULL at the end */
};

static NAME_LIST(face_name, "hmdp", "v1")
static NAME_LIST(users_name, "different", "same")

#define AT(field) offsetof(struct load_settings, field)
#define FIXED_RATE(kind, flag, at, ...)                                                \
    GROUPED(kind, flag, at, "At a fixed rate", __VA_ARGS__)
#define REMOTE(kind, flag, at, ...)                                                    \
    GROUPED(kind, flag, at, "A service that already runs", __VA_ARGS__)
static const struct setting settings[] = {
    OPTION(NAMES, "locks", AT(locks), .meta = "A,B,...", .choices = words_lock_at,
           .help = "make one run under each of these locks; default: one run under the lock that "
                   "the flags after -- name"),
    OPTION(COUNT, "processes", AT(processes), .fallback = "2", .meta = "N", .min = 1,
           .max = SERVICE_MAX, .help = "the number of seckilld processes"),
    COMMAND_FRONT(AT(front)),
    OPTION(COUNT, "connections", AT(connections), .fallback = "32", .meta = "N", .min = 1,
           .max = CONNECTIONS_MAX,
           .help = "the connections of wrk, of all processes together; with --rate the most "
                   "connections, 128 by default"),
    OPTION(COUNT, "stock", AT(stock), .fallback = "1000", .meta = "N", .min = 0,
           .max = 2000000000,
           .help = "the stock of each voucher; with --rate 1000000000 by default"),
    OPTION(COUNT, "vouchers", AT(vouchers), .fallback = "1", .meta = "N", .min = 1,
           .max = VOUCHERS_MAX, .help = "the number of vouchers on sale"),
    OPTION(DURATION, "duration", AT(duration_ms), .fallback = "10s", .meta = "TIME",
           .min = 100, .max = 3600000,
           .help = "the longest time of the load, which ends earlier when the stock is sold. "
                   "With --rate: the duration of each step"),
    OPTION(CHOICE, "users", AT(users), .fallback = "different", .choices = users_name,
           .help = "a different user in each request, or the same user over all connections at "
                   "once"),
    OPTION(CHOICE, "face", AT(face), .fallback = "hmdp", .choices = face_name,
           .help = "the interface of the service that the clients use: hmdp is the course face, "
                   "v1 is /api/v1"),
    COMMAND_RECORD(AT(record)),
    OPTION(LINES, "objective", AT(objective), .meta = "LIMIT",
           .help = "a limit to be kept, such as 'p99<50ms' or 'oversold=0'; may be "
                   "given again.  Names: " OBJECTIVE_NAMES ".  Signs: < <= = >= >.  A "
                   "limit that is missed, or that nothing was measured for, ends with "
                   "the exit status 3, or 1 if the audit found something wrong that no "
                   "limit is about.  With --rate the highest rate that keeps all is "
                   "named; the audit judges oversold, doubles and lost after all rates"),
    COMMAND_OF_RUNS,
    FIXED_RATE(TEXT, "rate", AT(rate), .meta = "N[..M[/STEP]]",
               .help = "send N requests per second, without wrk and without waiting "
                       "for answers; latency counts from the due time of a request. "
                       "1000..20000/1000: one step for each rate, each for --duration"),
    FIXED_RATE(DURATION, "ramp", AT(ramp_ms), .fallback = "0", .meta = "TIME",
               .min = 0, .max = 3600000,
               .help = "before the first step, let the rate rise evenly from 0 to that of "
                       "the step within this time; no objective judges the rise"),
    FIXED_RATE(DURATION, "pause", AT(pause_ms), .fallback = "0", .meta = "TIME",
               .min = 0, .max = 60000,
               .help = "stop all seckilld processes for this time in the middle of "
                       "each step"),
    FIXED_RATE(SWITCH, "beside-wrk", AT(beside_wrk), .fallback = "off",
               .help = "run wrk afterwards with the same connections, duration and "
                       "pause, into the same table and file"),
    REMOTE(TEXT, "url", AT(url), .meta = "http://HOST:PORT",
           .help = "load the service at this address, which this command did not start. "
                   "There is no audit: only the answers are judged, by --objective"),
    REMOTE(TEXT, "tokens", AT(tokens), .meta = "FILE", .shared = "tokens",
           .help = "the buyers, a line \"USER TOKEN\" for each as `seckill seed` writes "
                   "it; only the owner may read the file"),
    REMOTE(COUNT, "voucher", AT(voucher), .fallback = "1", .meta = "N", .min = 1,
           .max = INT64_MAX, .help = "the voucher that the buyers order"),
};

const struct setting_program command_load_program = {
    .name = "seckill load",
    .passes_to = "seckilld",
    .synopsis = "[OPTIONS] [-- SECKILLD FLAGS]",
    .intro = "Start seckilld processes, send orders with wrk, stop the processes and audit the\n"
             "sale.  A connection of wrk sends its next request after the last answer; --rate\n"
             "sends requests at a fixed rate, without waiting for answers.  --url loads a service\n"
             "that already runs instead, without an audit.\n"
             "Flags after -- go to each seckilld.  The default of --duplicate-guard is `count`\n"
             "here, so that a failure of the lock shows in the audit.  The default of\n"
             "--order-path is `combined`; with `each` the threads of a process compete too.\n\n"
             "  seckill load\n"
             "  seckill load --stock=100 -- --lock=naive --lock-scope=voucher \\\n"
             "      --stock-guard=read-write --duplicate-guard=none\n"
             "  seckill load --locks=naive,lua --stock=100\n"
             "  seckill load --users=same --vouchers=2 -- --lock=local\n"
             "  seckill load --rate=1000..8000/1000 --objective='p99<50ms' \\\n"
             "      --objective='failed<0.1%' -- --lock=reentrant\n"
             "  seckill load --rate=1000 --pause=500ms --beside-wrk\n"
             "  seckill load --front --processes=4 -- --lock=local\n"
             "  seckill load --url=http://shop.example:8081 --tokens=tokens.txt \\\n"
             "      --rate=500 --ramp=10s",
    EXITS({EXIT_VALID, "the audit says that the run is valid; with --url: orders were accepted"},
          {EXIT_INVALID, "the audit says that the run is invalid"},
          {EXIT_UNKNOWN, "the verdict is unknown: the evidence is not complete, or nothing was "
                         "shown; with --url: no order was accepted"},
          {EXIT_THRESHOLD, "an objective is missed, or nothing was measured for it; with "
                           "--rate: no rate keeps them.  The audit, if there is one, found "
                           "nothing wrong that no objective is about"},
          {EXIT_USAGE, NULL}, {EXIT_UNAVAILABLE, NULL},
          {EXIT_BUG, "the program itself failed; or the audit found no violation, and a seckilld "
                     "or HAProxy crashed, or ended with a status that no signal from outside "
                     "explains.  A process that was killed does not count"},
          {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
};

/* The service's default guard would hide the damage of a broken lock.  A flag
 * that comes later wins. */
static const char **service_flags(char *const *theirs, const char *lock)
{
    size_t count = 0, n = 0;
    const char **all;

    while (theirs[count])
        count++;
    all = memory_need(calloc(count + 3, sizeof *all));
    all[n++] = "--duplicate-guard=count";
    for (size_t i = 0; i < count; i++)
        all[n++] = theirs[i];
    if (*lock)
        all[n++] = lock;
    return all;
}

static enum exit_code run_rates(const struct run_plan *plan, const struct load_settings *v)
{
    struct rated_load load = {.open = v->open,
                              .out = v->out,
                              .is_beside_wrk = v->beside_wrk};
    struct token_keys keys;
    char path[FILES_PATH_MAX];

    if (!plan->remote) {
        files_join(path, plan->lab->dir, "token.key");
        if (!users_load_keys(path, &keys))
            return EXIT_UNAVAILABLE;
        load.open.keys = &keys;
    }
    return rated_load(&load, plan);
}

/* The lock that the service's flags name; NULL: none.  The last one counts, as it does
 * there. */
static const char *lock_of(char *const *flags)
{
    const char *lock = NULL;

    for (size_t i = 0; flags[i]; i++) {
        if (strncmp(flags[i], "--lock=", 7) == 0)
            lock = flags[i] + 7;
        else if (strcmp(flags[i], "--lock") == 0 && flags[i + 1])
            lock = flags[i + 1];
    }
    return lock;
}

/* "lua, 2 processes, 32 connections" */
static void make_title(char title[TITLE_MAX], const struct load_settings *v, int connections,
                       const char *lock)
{
    char sent_to[TITLE_MAX];

    snprintf(sent_to, sizeof sent_to, "%" PRId64 " %s%s", v->processes,
             v->processes == 1 ? "process" : "processes", v->front ? " behind a front" : "");
    snprintf(title, TITLE_MAX, "%s%s%.60s, %d connection%s%s%.20s", lock ? lock : "",
             lock ? ", " : "", v->url ? v->url : sent_to, connections, connections == 1 ? "" : "s",
             v->rate ? ", --rate=" : "", v->rate ? v->rate : "");
}

/* Plan to load the remote service, whose stock is not known. */
static void load_plan_remote(struct run_plan *plan, const struct load_settings *v)
{
    plan->remote = v->remote;
    plan->voucher_count = 1;
    plan->stock = RATE_STOCK;
    if (plan->connections < plan->processes || v->remote->buyer_count < FEW_BUYERS)
        plan->processes = 1; /* of wrk */
}

/* A run.  `lock` is NULL unless --locks names the lock. */
static enum exit_code run_lock(const struct lab *lab, lab_db *db, const struct load_settings *v,
                               struct live *live, const char *lock)
{
    char dir[FILES_PATH_MAX], title[TITLE_MAX], flag[TITLE_MAX] = "";
    const char **flags;
    struct run_plan plan = {
        .lab = lab,
        .db = db,
        .dir = dir,
        .hazard = hazard_find("calm"),
        .processes = (int)v->processes,
        .has_front = v->front,
        .connections = (int)v->connections,
        .stock = v->stock,
        .voucher_count = (int)v->vouchers,
        .duration_ms = v->duration_ms,
        .is_per_user = strcmp(v->users, "same") == 0,
        .slot_ms = SLOT_MS,
        .slot_users = SLOT_USERS,
        .face = v->face,
        .record = v->record,
        .live = live,
        .title = title,
    };
    enum exit_code rc = EXIT_CANNOT_WRITE;

    if (lock)
        snprintf(flag, sizeof flag, "--lock=%s", lock);
    plan.flags = flags = service_flags(v->flags, flag);
    if (v->remote)
        load_plan_remote(&plan, v);
    if (plan.connections < plan.processes)
        plan.connections = plan.processes;
    make_title(title, v, plan.connections, lock ? lock : lock_of(v->flags));
    if (runs_make(dir, v->out)) {
        rc = v->rate ? run_rates(&plan, v) : wrk_load(&plan, &v->open.objectives);
        if (files_is_directory(dir)) /* the run has a result */
            rc = run_report(stdout, dir, "load", rc);
    }
    free(flags);
    return rc;
}

static bool may_go_on(enum exit_code rc)
{
    return rc == EXIT_VALID || rc == EXIT_INVALID || rc == EXIT_UNKNOWN || rc == EXIT_THRESHOLD;
}

static enum exit_code run_in(const struct lab *lab, lab_db *db, const struct load_settings *v,
                             const char *const *locks, size_t lock_count)
{
    const struct live_options shown = {
        .command = "load", .is_quiet = v->quiet, .has_log_lines = true};
    /* A live view of a sale counts the rows in its database. */
    struct live *live = v->remote ? NULL : live_open(&shown);
    enum exit_code rc = EXIT_VALID, worst = EXIT_VALID;

    if (lock_count == 0)
        worst = run_lock(lab, db, v, live, NULL);
    for (size_t i = 0; i < lock_count && may_go_on(rc); i++) {
        printf("%s%s: --lock=%s\n", i ? "\n" : "", command_load_program.name, locks[i]);
        rc = run_lock(lab, db, v, live, locks[i]);
        worst = may_go_on(rc) ? verdict_worse_exit(worst, rc) : rc;
    }
    live_close(live);
    return worst;
}

static bool read_objectives(struct load_settings *v)
{
    char why[OBJECTIVE_WHY_MAX];

    if (!v->objective || (objectives_parse(v->objective, &v->open.objectives, why) &&
                          (v->rate || objectives_suit_wrk(&v->open.objectives, why))))
        return true;
    eprintf("seckill load: --objective: %s\n", why);
    return false;
}

/* Read the settings of a fixed rate.  False: the mistake is on stderr. */
static bool read_rate(const struct settings *s, struct load_settings *v)
{
    char why[OBJECTIVE_WHY_MAX];
    const char *alone = v->pause_ms > 0  ? "pause"
                        : v->ramp_ms > 0 ? "ramp"
                        : v->beside_wrk  ? "beside-wrk"
                                         : NULL;

    if (!v->rate) {
        if (alone)
            eprintf("seckill load: --%s needs --rate, such as --rate=1000%s\n", alone,
                    v->ramp_ms > 0 ? "; wrk has no rate that could rise" : "");
        return !alone;
    }
    if (!rate_parse(v->rate, &v->open.rates, why)) {
        eprintf("seckill load: --rate=%s, %s\n", v->rate, why);
        return false;
    }
    if (v->pause_ms * 2 > v->duration_ms) {
        eprintf("seckill load: --pause may be half of --duration at most\n");
        return false;
    }
    if (settings_is_default(s, AT(stock)))
        v->stock = RATE_STOCK;
    if (settings_is_default(s, AT(connections)))
        v->connections = RATE_CONNECTIONS;
    v->open.duration_ms = v->duration_ms;
    v->open.pause_ms = v->pause_ms;
    v->open.ramp_ms = v->ramp_ms;
    return true;
}

/* The users of wrk's run.  A run at a fixed rate makes the tokens of its users itself. */
static int64_t users_of(const struct load_settings *v)
{
    bool has_wrk = !v->rate || v->beside_wrk;

    return users_for_sale(has_wrk ? v->stock * v->vouchers : 0, v->duration_ms,
                          (int)v->processes);
}

static lab_topologies needed(const struct load_settings *v, const char *const *locks, size_t count)
{
    const char *lock = lock_of(v->flags);
    lab_topologies wanted = count == 0 && lock ? lab_lock_needs(lock) : 0;

    for (size_t i = 0; i < count; i++)
        wanted |= lab_lock_needs(locks[i]);
    return wanted;
}

static enum exit_code run_in_lab(const struct load_settings *v, const char *const *locks,
                                 size_t lock_count)
{
    struct lab lab;
    lab_db *db;
    enum exit_code rc = lab_open(&lab, lab_choose_dir(v->dir), needed(v, locks, lock_count));

    if (rc != EXIT_VALID)
        return rc;
    db = lab_database_open(&lab, command_load_program.name);
    rc = db ? users_ensure(&lab, users_of(v)) : EXIT_UNAVAILABLE;
    if (rc == EXIT_VALID)
        rc = run_in(&lab, db, v, locks, lock_count);
    lab_db_close(db);
    lab_close(&lab);
    return rc;
}

/* Refuse by name what does not go with --url, or not without it. */
static bool load_suits_url(const struct settings *s, const struct load_settings *v)
{
    static const struct {
        const char *name;
        size_t at;
    } OWN[] = {{"locks", AT(locks)}, {"processes", AT(processes)}, {"front", AT(front)},
               {"stock", AT(stock)}, {"vouchers", AT(vouchers)}, {"record", AT(record)},
               {"pause", AT(pause_ms)}, {"beside-wrk", AT(beside_wrk)}};
    struct objectives of_audit = objectives_of_audit(&v->open.objectives);
    const char *own = settings_is_flag(s, AT(dir)) ? "dir" : NULL;
    const char *other = settings_is_flag(s, AT(tokens))        ? "tokens"
                        : !settings_is_default(s, AT(voucher)) ? "voucher"
                                                               : NULL;

    for (size_t i = 0; i < sizeof OWN / sizeof OWN[0] && !own; i++)
        own = settings_is_default(s, OWN[i].at) ? NULL : OWN[i].name;
    if (!v->url && other)
        eprintf("seckill load: --%s needs --url=http://HOST:PORT\n", other);
    else if (v->url && own)
        eprintf("seckill load: --%s is about services, vouchers or a lab of this command's own, "
                "and --url names a service that it did not start\n", own);
    else if (v->url && v->flags[0])
        eprintf("seckill load: the flag %.*s of seckilld cannot reach the service of --url, which "
                "already runs\n", (int)strcspn(v->flags[0], "="), v->flags[0]);
    else if (v->url && of_audit.count > 0)
        eprintf("seckill load: --objective=%s needs an audit, which --url has not\n",
                of_audit.at[0].text);
    else if (v->url && !v->tokens)
        eprintf("seckill load: --url needs --tokens=FILE, made by: seckill seed --tokens=FILE\n");
    else
        return true;
    return false;
}

/* Read what --url needs.  False: the mistake is on stderr. */
static bool load_read_remote(struct load_settings *v, struct remote_service *remote)
{
    int64_t ms = v->rate ? v->ramp_ms + v->duration_ms * v->open.rates.count : v->duration_ms;
    int64_t orders = v->rate && strcmp(v->users, "same") != 0 ? open_loop_requests(&v->open) : 0;

    if (!v->url)
        return true;
    v->remote = remote;
    remote->voucher = v->voucher;
    if (!remote_service_read(remote, v->url, v->tokens, token_now_s() + ms / 1000))
        return false;
    if (remote->buyer_count < orders)
        eprintf("seckill load: --rate sends %" PRId64 " orders, and the %" PRId64 " users of %s "
                "buy once each; more users, or --users=same, are needed\n",
                orders, remote->buyer_count, v->tokens);
    return remote->buyer_count >= orders;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    struct load_settings copy = *(const struct load_settings *)values, *v = &copy;
    struct remote_service remote = {0};
    const char *locks[LOCKS_MAX];
    size_t lock_count = 0;
    enum exit_code rc;

    if (!read_objectives(v) || !read_rate(s, v) || !load_suits_url(s, v))
        return EXIT_USAGE;
    if (v->locks && (lock_count = words_read(command_load_program.name, "locks", v->locks,
                                             words_lock_at, locks, LOCKS_MAX)) == 0)
        return EXIT_USAGE;
    if (!v->url && !service_settings_suit((const char *const *)v->flags))
        return EXIT_USAGE;
    if (!load_read_remote(v, &remote)) {
        rc = EXIT_USAGE;
    } else if (!command_begin_json_lines(&command_load_program, v->json_lines, v->quiet)) {
        rc = EXIT_CANNOT_WRITE;
    } else {
        rc = !v->url ? run_in_lab(v, locks, lock_count) : remote_service_reach(&remote);
        if (v->url && rc == EXIT_VALID)
            rc = run_in(NULL, NULL, v, NULL, 0);
        json_lines_write("end", json_pack("{s:i}", "exit", (int)rc));
    }
    remote_service_free(&remote);
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
