/* SPDX-License-Identifier: MIT */
/* show.c -- `seckill show`: a sale on one page of a browser. */
#include "loadtest/show/show.h"

#include <stdio.h>
#include <string.h>

#include "base/http/address.h"
#include "base/http/admin_access.h"
#include "base/text/settings.h"
#include "db/guard.h"
#include "db/order_paths.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/sale/users.h"
#include "loadtest/show/sale.h"

/* So long PostgreSQL may take to count the orders.  A server that hangs must not keep the page, nor
 * Ctrl-C, for longer. */
enum { DATABASE_MS = 10000 };

struct show_settings {
    const char *dir, *out, *listen, *host;
    struct show_switches switches;
    int64_t limit_ms, lesson;
    bool zookeeper;
};

#define AT(field) offsetof(struct show_settings, field)
#define ROW(kind, flag, at, ...) GROUPED(kind, flag, at, "The first sale", __VA_ARGS__)
static const struct setting settings[] = {
    OPTION(TEXT, "listen", AT(listen), .fallback = "127.0.0.1:0", .meta = "HOST:PORT",
           .help = "the address of the page, one of loopback unless --host is given; port 0 is any "
                   "free port"),
    OPTION(TEXT, "host", AT(host), .meta = "NAME",
           .help = "the name or address under which browsers ask for the page, without a port: "
                   "requests with any other Host are refused"),
    OPTION(DURATION, "limit", AT(limit_ms), .fallback = "60s", .meta = "TIME", .min = 1000,
           .max = 3600000, .help = "the longest time of a load"),
    OPTION(COUNT, "lesson", AT(lesson), .fallback = "0", .meta = "N", .min = 0, .max = 10,
           .help = "begin with this lesson, 1 to 10; 0: no lesson"),
    OPTION(SWITCH, "zookeeper", AT(zookeeper), .fallback = "off",
           .help = "start a ZooKeeper for the zk locks"),
    COMMAND_OUT(AT(out)),
    COMMAND_OWN_DIR(AT(dir)),
    ROW(CHOICE, "locks", AT(switches.lock), .fallback = "reentrant", .choices = words_lock_at,
        .help = "the lock in front of the stock"),
    ROW(CHOICE, "lock-scope", AT(switches.scope), .fallback = "voucher",
        .choices = show_scope_at, .help = "the orders that exclude one another"),
    ROW(CHOICE, "stock-guard", AT(switches.stock_guard), .fallback = "read-write",
        .choices = guard_name_at, .help = "the protection of the stock beside the lock"),
    ROW(CHOICE, "duplicate-guard", AT(switches.duplicate_guard), .fallback = "none",
        .choices = duplicate_guard_name_at,
        .help = "the protection in the database against a second order of one user"),
    ROW(CHOICE, "watchdog", AT(switches.watchdog), .fallback = "on", .choices = show_on_off_at,
        .help = "renew held locks, as `seckilld --watchdog` does"),
    ROW(CHOICE, "order-path", AT(switches.order_path), .fallback = "each",
        .choices = order_path_name_at, .help = "the way in which orders become rows"),
    ROW(DURATION, "lock-lease", AT(switches.lease_ms), .fallback = "1500ms", .meta = "TIME",
        .min = 100, .max = 60000, .help = "the lease of a lock, which ends unless it is renewed"),
    ROW(COUNT, "processes", AT(switches.processes), .fallback = "2", .meta = "N", .min = 1,
        .max = SERVICE_MAX, .help = "the number of seckilld processes"),
    ROW(COUNT, "connections", AT(switches.connections), .fallback = "16", .meta = "N", .min = 1,
        .max = 256, .help = "the connections of the load, all processes together"),
    ROW(CHOICE, "users", AT(switches.users), .fallback = "different", .choices = show_users_at,
        .help = "a different user in each request, or the same user over all connections at "
                "once. With --duplicate-guard=count only a lock prevents the second order of a "
                "user"),
    ROW(COUNT, "rate", AT(switches.rate), .fallback = "0", .meta = "N", .min = 0, .max = 20000,
        .help = "send N orders a second, without waiting for answers; 0: use wrk, whose "
                "connections send the next request after the last answer"),
    ROW(COUNT, "stock", AT(switches.stock), .fallback = "1000", .meta = "N", .min = 1,
        .max = 1000000, .help = "stock of the voucher"),
};

const struct setting_program command_show_program = {
    .name = "seckill show",
    .synopsis = "[OPTIONS]",
    .intro =
        "Start private servers and processes of the service, and show a sale on a page in a\n"
        "browser on this machine: the stock, the verdict, a lane for each process, and the\n"
        "state of the lock in its store.  On the page you start and stop real load, inject and\n"
        "end faults, and change settings.  The command prints the address of the page, which\n"
        "contains the token for its requests.\n\n"
        "  seckill show\n"
        "  seckill show --locks=none --processes=3\n"
        "  seckill show --listen=127.0.0.1:8090, then ssh -L 8090:127.0.0.1:8090 HOST\n"
        "  seckill show --listen=0.0.0.0:8090 --host=192.0.2.7",
    EXITS({EXIT_VALID, "the page was served until the command was interrupted"}, {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, NULL}, {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
};

static enum exit_code show(struct lab *lab, lab_db *db, const struct show_settings *v)
{
    struct show_plan plan = {.lab = lab,
                             .db = db,
                             .out = v->out,
                             .listen = v->listen,
                             .host = v->host,
                             .switches = v->switches,
                             .limit_ms = v->limit_ms,
                             .lesson = (int)v->lesson};

    return show_run(&plan);
}

static bool are_addresses(const struct show_settings *v)
{
    char host[64];
    int port = 0;

    if (!address_parse(v->listen, host, &port))
        eprintf("seckill show: --listen must be HOST:PORT with one IPv4 address as its HOST, such "
                "as 127.0.0.1:8090, not \"%s\"\n", v->listen);
    else if (v->host && (!admin_hosts_are_good(v->host) || strpbrk(v->host, ",*")))
        eprintf("seckill show: --host must be one name or address without a port, not \"%s\"\n",
                v->host);
    else if (!v->host && !admin_host_is_loopback(host, strlen(host)))
        eprintf("seckill show: --listen=%s is not of loopback: say with --host=NAME under which "
                "name browsers will ask; whoever has the token then injects faults\n", v->listen);
    else
        return true;
    return false;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct show_settings *v = values;
    struct lab lab;
    lab_db *db;
    enum exit_code rc;

    (void)s;
    if (!are_addresses(v))
        return EXIT_USAGE;
    rc = lab_open(&lab, lab_choose_dir(v->dir),
                  (v->zookeeper ? LAB_WITH(ZOOKEEPER) : 0) | lab_lock_needs(v->switches.lock));
    if (rc != EXIT_VALID)
        return rc;
    db = lab_database_open(&lab, command_show_program.name);
    rc = db ? users_ensure(&lab, SHOW_USERS) : EXIT_UNAVAILABLE;
    if (rc == EXIT_VALID) {
        lab_db_limit(db, DATABASE_MS);
        rc = show(&lab, db, v);
    }
    lab_db_close(db);
    lab_close(&lab);
    return rc;
}

COMMAND_FUNCTION(show, command_run)
