/* SPDX-License-Identifier: MIT */
/* lock.c -- `seckill lock show|force NAME`: look at one lock, or free it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/os/utf8.h"
#include "base/text/exit_codes.h"
#include "base/text/settings.h"
#include "base/text/suggest.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/name_list.h"
#include "lock/store.h"

struct lock_settings {
    const char *lock;
    const char *redis_url;
    const char *redlock_urls;
    const char *database_url;
    const char *zookeeper_url;
    const char *etcd_url;
    bool json;
};

/* The service has the same settings. */
#define URL(field, flag, what, text)                                                   \
    GROUPED(SECRET, flag, AT(field), "Stores", .meta = what, .shared = flag,           \
            .help = text)

#define AT(field) offsetof(struct lock_settings, field)
static const struct setting settings[] = {
    OPTION(CHOICE, "lock", AT(lock), .shared = "lock", .fallback = "reentrant",
           .choices = words_lock_at,
           .help = "the kind of lock; `seckill locks` describes them"),
    OPTION(SWITCH, "json", AT(json), .fallback = "off",
           .help = "as JSON, for programs"),
    URL(redis_url, "redis-url", "URL",
        "the Redis of the locks that use one Redis: redis://[user:password@]host[:port][/db], "
        "redis-sentinel://[...@]host[:port],.../name, redis-cluster://[...@]host[:port],..., "
        "rediss in place of redis for TLS, or unix:///path[?db=N]; `seckilld --help` says more"),
    URL(redlock_urls, "redlock-urls", "URL,URL,...", "the Redis servers of redlock and multi"),
    URL(database_url, "database-url", "URL", "the PostgreSQL of the pg locks"),
    URL(zookeeper_url, "zookeeper-url", "HOST:PORT,...", "the ZooKeeper of the zk locks"),
    URL(etcd_url, "etcd-url", "http://HOST:PORT,...", "the etcd of the lock etcd"),
};

const struct setting_program command_lock_program = {
    .name = "seckill lock",
    .synopsis = "show|force NAME [--lock=KIND] [--json]",
    .intro =
        "Show the state of one lock in its store, or free the lock of any holder.\n\n"
        "  . .lab/env                       the addresses of the stores\n"
        "  seckill lock show lock:order:42  its owner, and the time until its lease ends\n"
        "  seckill lock show lock:voucher:1 --lock=fair --json | jq .waiterCount\n"
        "  seckill lock force lock:order:42 free it; its holder works on until\n"
        "                                   it notices the loss\n\n"
        "A lock of `local` is in the memory of its process.  The process shows it at GET\n"
        "/admin/locks/NAME of its admin listener, with the token of $SECKILL_ADMIN_TOKEN_FILE.",
    EXITS({EXIT_VALID, "done; of force: the lock is free now"},
          {EXIT_INVALID, "of force: nobody held the lock"},
          {EXIT_UNKNOWN, "the store did not answer, so the result is unknown"}, {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, NULL}, {EXIT_CANNOT_WRITE, "standard output cannot be written"}),
    SETTINGS(settings),
    .max_operands = 2,
};

static enum exit_code refuse(const struct lock_settings *v, const char *name,
                             dlock_status st)
{
    eprintf("seckill lock: %s (%s): %s: %s\n", name, v->lock, dlock_status_text(st), dlock_error());
    if (st == DLOCK_INVALID || st == DLOCK_UNSUPPORTED)
        return EXIT_USAGE;
    return st == DLOCK_UNKNOWN ? EXIT_UNKNOWN : EXIT_UNAVAILABLE;
}

/* null: the store does not tell. */
static json_t *number(int64_t value)
{
    return value < 0 || value == INT64_MAX ? json_null() : json_integer(value);
}

static void print_json(const struct lock_settings *v, const char *name,
                       const dlock_info *info)
{
    bool ends = !info->locked || info->left_ms != INT64_MAX;
    json_t *object = json_pack(
        "{s:s, s:s, s:b, s:b, s:s?, s:o, s:o, s:o, s:o, s:b}", "name", name, "lock",
        v->lock, "locked", info->locked, "shared", info->shared, "owner",
        info->owner[0] != '\0' ? info->owner : NULL, "holdCount",
        number(info->hold_count), "readerCount", number(info->reader_count),
        "waiterCount", number(info->waiter_count), "leftMs", number(info->left_ms),
        "endsByItself", ends);

    if (info->fence != 0)
        json_object_set_new(object, "fence", json_integer((json_int_t)info->fence));
    if (info->next_owner[0] != '\0')
        json_object_set_new(object, "next",
                            json_pack("{s:s, s:o, s:b}", "owner", info->next_owner,
                                      "leftMs", number(info->next_left_ms), "isGone",
                                      info->next_is_gone));
    files_print_json(object);
}

static void print_left(int64_t left_ms)
{
    if (left_ms == INT64_MAX)
        puts("ends     not by itself, or with its holder's session");
    else if (left_ms >= 0)
        printf("ends     in %" PRId64 ".%03d s, unless it is renewed\n", left_ms / 1000,
               (int)(left_ms % 1000));
    else
        puts("ends     not known");
}

/* Print whose turn is next in the queue, and a warning if that client is gone. */
static void print_next(const struct lock_settings *v, const char *name,
                       const dlock_info *info)
{
    if (info->next_owner[0] == '\0')
        return;
    printf("next     %s, whose turn is kept for %" PRId64 ".%03d s\n", info->next_owner,
           info->next_left_ms / 1000, (int)(info->next_left_ms % 1000));
    if (info->next_is_gone && !info->locked)
        printf("         no client listens for that turn, so its waiter has probably died;\n"
               "         take the turn away with: seckill lock force --lock=%s '%s'\n",
               v->lock, name);
}

static void print_text(const struct lock_settings *v, const char *name,
                       const dlock_info *info)
{
    printf("%s (%s): %s\n", name, v->lock,
           !info->locked   ? "free"
           : info->shared ? "held by readers"
                          : "held");
    if (info->locked) {
        printf("owner    %s\n", info->owner[0] != '\0' ? info->owner : "not known");
        if (info->hold_count >= 0)
            printf("levels   %d\n", info->hold_count);
        if (info->reader_count > 0)
            printf("readers  %d\n", info->reader_count);
        if (info->fence != 0)
            printf("fence    %" PRIu64 "\n", info->fence);
        print_left(info->left_ms);
    }
    if (info->waiter_count >= 0)
        printf("waiting  %d\n", info->waiter_count);
    else
        puts("waiting  not known: this kind keeps no list");
    print_next(v, name, info);
}

static enum exit_code show(dlock_system *sys, const struct lock_settings *v,
                           const char *name)
{
    char shown[UTF8_SHOWN_SIZE(DLOCK_NAME_MAX)];
    dlock_info info;
    dlock_status st = dlock_inspect(sys, name, &info);

    if (st != DLOCK_OK)
        return refuse(v, name, st);
    utf8_show(name, shown, sizeof(shown));
    if (v->json)
        print_json(v, shown, &info);
    else
        print_text(v, shown, &info);
    return EXIT_VALID;
}

static enum exit_code force(dlock_system *sys, const struct lock_settings *v,
                            const char *name)
{
    char shown[UTF8_SHOWN_SIZE(DLOCK_NAME_MAX)];
    dlock_status st = dlock_force_release(sys, name);

    if (st != DLOCK_OK && st != DLOCK_LOST)
        return refuse(v, name, st);
    utf8_show(name, shown, sizeof(shown));
    if (v->json)
        printf("{\"freed\": %s}\n", st == DLOCK_OK ? "true" : "false");
    else
        printf("%s (%s): %s\n", shown, v->lock,
               st == DLOCK_OK ? "freed" : "nobody held it");
    return st == DLOCK_OK ? EXIT_VALID : EXIT_INVALID;
}

static const struct action {
    const char *name;
    enum exit_code (*run)(dlock_system *, const struct lock_settings *, const char *);
} actions[] = {{"show", show}, {"force", force}};

enum { ACTION_COUNT = sizeof actions / sizeof actions[0] };

static const char *action_name(size_t i)
{
    return i < ACTION_COUNT ? actions[i].name : NULL;
}

/* Has the store of this lock an address?  False: stderr says how to set it. */
static bool has_address(const dlock_options *opts, const struct lock_settings *v)
{
    enum dlock_store store = dlock_store_of(dlock_variant_find(v->lock));
    const char *const addresses[DLOCK_STORE_COUNT] = {
#define LOCAL_STORE(id, name) [DLOCK_STORE_##id] = "",
#define STORE(id, name, product, field, ...) [DLOCK_STORE_##id] = opts->field,
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    };
    const struct dlock_store_row *row = dlock_store_row(store);

    if (addresses[store] != NULL)
        return true;
    eprintf("seckill lock: the lock %s needs the address of %s: %s (or %s)\n"
            "  a lab sets it: . .lab/env\n", v->lock, row->product, row->flag, row->environment);
    return false;
}

static enum exit_code act(const struct action *action, const struct lock_settings *v,
                          const char *name)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    enum exit_code rc;
    dlock_status st;

    if (dlock_store_of(dlock_variant_find(v->lock)) == DLOCK_STORE_PROCESS) {
        fputs("seckill lock: a lock of local is in the memory of its process, so no store has "
              "it\n  ask the process: curl -H \"Authorization: Bearer $(cat "
              "\"$SECKILL_ADMIN_TOKEN_FILE\")\" http://127.0.0.1:8082/admin/locks/NAME\n", stderr);
        return EXIT_USAGE;
    }
    opts.variant = v->lock;
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...) opts.field = v->field;
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    if (!has_address(&opts, v))
        return EXIT_USAGE;
    opts.watchdog = false;
    st = dlock_open(&sys, &opts);
    if (st != DLOCK_OK)
        return refuse(v, name, st);
    rc = action->run(sys, v, name);
    dlock_close(sys);
    return rc;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const char *word = s->operand_count > 0 ? s->operands[0] : "";
    const char *near = suggest(word, action_name);

    for (size_t i = 0; i < ACTION_COUNT && s->operand_count == 2; i++)
        if (strcmp(actions[i].name, word) == 0)
            return act(&actions[i], values, s->operands[1]);
    eprintf("seckill lock: say `show NAME` or `force NAME`");
    if (near != NULL && strcmp(near, word) != 0)
        eprintf("; did you mean \"%s\"?", near);
    fputs("\n  for example: seckill lock show lock:order:42\n", stderr);
    return EXIT_USAGE;
}

COMMAND_FUNCTION(lock, command_run)
