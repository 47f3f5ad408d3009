/* SPDX-License-Identifier: MIT */
/* config.c -- the table of settings, the checks between settings, and the values
 * derived from them. */
#include "app/config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/lane.h"
#include "base/http/address.h"
#include "base/http/admin_access.h"
#include "base/os/random.h"
#include "base/redis/outcome.h"
#include "base/redis/url.h"
#include "base/text/settings.h"
#include "db/guard.h"
#include "db/order_paths.h"
#include "db/partition.h"
#include "db/pool.h"
#include "lock/dlock_primitives.h"
#include "lock/store.h"
#include "lock/stores/etcd_address.h"
#include "lock/stores/zookeeper_path.h"

/* ---- the settings that name stores of locks ---- */

enum { SAID_SIZE = 512, URL_MAX = 2048 };

/* NULL: the program has no such setting. */
static const struct setting_origin *origin_of(const struct settings *s, const char *name)
{
    const struct setting_program *program = s->program;

    for (size_t i = 0; i < program->count; i++)
        if (strcmp(program->settings[i].name, name) == 0)
            return &s->origins[i];
    return NULL;
}

/* The source of the value of the setting `name`, for messages: "flag", "environment", "FILE:LINE"
 * or "default". */
static const char *config_source(const struct settings *s, const char *name)
{
    const struct setting_origin *origin = origin_of(s, name);

    return origin != NULL ? origin->source : "default";
}

static bool read_redis(const char *text, char said[SAID_SIZE])
{
    struct redis_url url;
    char why[REDIS_WHY_SIZE];
    bool is_good = redis_url_parse(text, &url, why, sizeof(why));

    if (!is_good)
        (void)snprintf(said, SAID_SIZE, "the Redis URL cannot be read, %s; it has to be %s", why,
                       redis_url_form(text));
    explicit_bzero(&url, sizeof(url));
    return is_good;
}

static bool read_redis_list(const char *text, char said[SAID_SIZE])
{
    for (int number = 1;; number++) {
        size_t len = strcspn(text, ",");
        char one[URL_MAX], why[SAID_SIZE];
        bool is_good;

        if (len >= sizeof(one)) {
            (void)snprintf(said, SAID_SIZE, "URL %d of the list is over %d bytes", number,
                           (int)URL_MAX - 1);
            return false;
        }
        (void)snprintf(one, sizeof(one), "%.*s", (int)len, text);
        is_good = read_redis(one, why);
        explicit_bzero(one, sizeof(one));
        if (!is_good) {
            (void)snprintf(said, SAID_SIZE, "in URL %d of the list: %.440s", number, why);
            return false;
        }
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

static bool read_etcd(const char *text, char said[SAID_SIZE])
{
    struct etcd_address address;
    char why[ETCD_WHY_SIZE];
    bool is_good = etcd_address_read(text, &address, why);

    if (!is_good)
        (void)snprintf(said, SAID_SIZE, "the URL of the etcd cannot be read, %s", why);
    explicit_bzero(&address, sizeof(address));
    return is_good;
}

static bool read_zookeeper(const char *text, char said[SAID_SIZE])
{
    bool is_good = zookeeper_url_check(text) == DLOCK_OK;

    if (!is_good)
        (void)snprintf(said, SAID_SIZE, "%s", dlock_error());
    return is_good;
}

/* Is every given address of Redis, ZooKeeper and etcd well-formed, also if the lock does not use
 * it?  False: standard error names the setting, its source and the fault, without passwords. */
static bool config_addresses_are_good(const struct settings *s)
{
    static const struct {
        const char *name;
        bool (*read)(const char *text, char said[SAID_SIZE]);
    } ADDRESSES[] = {{"redis-url", read_redis},
                     {"redlock-urls", read_redis_list},
                     {"zookeeper-url", read_zookeeper},
                     {"etcd-url", read_etcd}};
    char said[SAID_SIZE];

    for (size_t i = 0; i < sizeof(ADDRESSES) / sizeof(ADDRESSES[0]); i++) {
        const struct setting_origin *origin = origin_of(s, ADDRESSES[i].name);

        if (origin == NULL || origin->text == NULL || ADDRESSES[i].read(origin->text, said))
            continue;
        fprintf(stderr, "seckilld: --%s (%s): %s\n", ADDRESSES[i].name, origin->source, said);
        return false;
    }
    return true;
}

/* ---- the settings that name databases ---- */

enum { WHY_MAX = 400 };

static bool is_lock_url(const char *url, const struct settings *s)
{
    char why[WHY_MAX];

    if (url == NULL || db_url_is_valid(url, why, sizeof(why)))
        return true;
    fprintf(stderr,
            "seckilld: --lock-database-url (%s) must be one "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE: %s\n",
            config_source(s, "lock-database-url"), why);
    return false;
}

/* Read the value of --database-url, and check the value of --lock-database-url; NULL:
 * not given.  False: standard error names the wrong setting, its source and the
 * mistake. */
static bool config_read_databases(const char *database_url, const char *lock_database_url,
                                  const struct settings *s, struct partition_urls *out)
{
    char why[WHY_MAX];

    if (database_url == NULL) {
        fprintf(stderr, "seckilld: --database-url (or SECKILL_DATABASE_URL) is missing: "
                        "give the URL of PostgreSQL; a lab has one: . .lab/env\n");
        return false;
    }
    if (partition_urls_read(database_url, out, why, sizeof(why)))
        return is_lock_url(lock_database_url, s);
    fprintf(stderr,
            "seckilld: --database-url (%s) must be "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or several of these with white "
            "space between them: %s\n",
            config_source(s, "database-url"), why);
    return false;
}

static const char *config_lock_name_at(size_t i)
{
    return i < dlock_variant_count() ? dlock_variant_at(i)->name : NULL;
}

/* The function that lists the fixed words of a setting. */
#define WORDS(function, ...)                                                           \
    static const char *function(size_t i)                                              \
    {                                                                                  \
        static const char *const WORDS[] = {__VA_ARGS__};                              \
                                                                                       \
        return i < sizeof(WORDS) / sizeof(WORDS[0]) ? WORDS[i] : NULL;                 \
    }

enum { SCOPE_USER, SCOPE_VOUCHER };
WORDS(config_scope_at, "user", "voucher")
enum { REDLOCK_PARALLEL, REDLOCK_SEQUENTIAL };
WORDS(config_redlock_at, "parallel", "sequential")
enum { UNLOCK_AFTER_COMMIT, UNLOCK_LATER, UNLOCK_BEFORE_COMMIT };
WORDS(config_unlock_at, "after-commit", "later", "before-commit")
/* In the order of enum log_level, which begins with LOG_DEBUG. */
WORDS(config_level_at, "debug", "info", "warn", "error")
WORDS(config_log_format_at, "text", "json") /* in the order of enum log_format */

/* The index of a word in its list.  The word was checked when it was read, so it is
 * there. */
static size_t word_of(setting_choices_fn *at, const char *text)
{
    size_t i = 0;

    while (strcmp(at(i), text) != 0)
        i++;
    return i;
}

static const struct setting SETTINGS[] = {
#define SETTING(type, ctype, field, name, fallback, meta, choices, min, max, in, help, \
                output)                                                                \
    {SETTING_##type, name, offsetof(struct config, field), fallback, meta, choices,    \
     min, max, in, help, NULL, SETTING_WRITES_##output, SETTING_OF_ONE_PROGRAM},
#include "app/config.def"
#undef SETTING
};

/* Choose the order path and the moment of the release.  If another thread commits an
 * order, the order cannot give its lock back before the commit.  On the path `each` a
 * release waits for the answer, because the laboratory observes locks there and needs
 * releases that are complete when the call returns. */
static void complete(struct settings *s, void *values)
{
    struct config *c = values;
    bool is_early =
        c->unlock != NULL && word_of(config_unlock_at, c->unlock) == UNLOCK_BEFORE_COMMIT;
    const char *combined = order_path_name_at(ORDER_PATH_combined);

    settings_fill(s, c, offsetof(struct config, order_path),
                  is_early ? order_path_name_at(ORDER_PATH_each) : combined);
    settings_fill(s, c, offsetof(struct config, unlock),
                  config_unlock_at(strcmp(c->order_path, combined) == 0 ? UNLOCK_LATER
                                                                        : UNLOCK_AFTER_COMMIT));
}

const struct setting_program config_program = {
    .name = "seckilld",
    .synopsis = "[OPTIONS]",
    .intro = "Serve orders for vouchers over HTTP, with a lock in front of the stock.\n"
             "Examples:\n"
             "  seckilld --lock=redlock --lock-scope=voucher\n"
             "  seckilld --lock=none --stock-guard=read-write --listen=127.0.0.1:0",
    .outro = "seckilld prints `ready ...` on standard output when it accepts orders.  After "
             "SIGTERM it answers the requests in progress, and stops.  A second SIGTERM ends it "
             "at once, with the status 143.",
    EXITS({EXIT_VALID, "stopped"}, {EXIT_USAGE, NULL},
          {EXIT_UNAVAILABLE, "a store did not answer, or a port is taken"},
          {EXIT_BUG, "requests were in progress when --drain-timeout was over"},
          {EXIT_CANNOT_WRITE, "--record, the admin token or the text of an option such as "
                              "--help cannot be written"}),
    .settings = SETTINGS,
    .count = sizeof(SETTINGS) / sizeof(SETTINGS[0]),
    .max_operands = 0,
    .complete = complete,
};

bool config_parse_fronts(const char *text, uint32_t fronts[CONFIG_FRONTS_MAX],
                         size_t *count)
{
    *count = 0;
    while (text != NULL && *count < CONFIG_FRONTS_MAX) {
        size_t len = strcspn(text, ",");
        char one[INET_ADDRSTRLEN];
        struct in_addr address;

        (void)snprintf(one, sizeof(one), "%.*s", (int)len, text);
        if (len >= sizeof(one) || inet_pton(AF_INET, one, &address) != 1)
            return false;
        fronts[(*count)++] = address.s_addr;
        text = text[len] == ',' ? text + len + 1 : NULL;
    }
    return text == NULL;
}

bool config_parse_admission(const char *text, enum config_admission *kind, int *limit)
{
    static const char *const WORDS[] = {
        [ADMISSION_NONE] = "none",
        [ADMISSION_SEMAPHORE] = "semaphore:",
        [ADMISSION_PERMITS] = "permits:",
    };
    const char *digits;
    char *end = NULL;
    long n;

    *kind = ADMISSION_NONE;
    *limit = 0;
    if (strcmp(text, WORDS[ADMISSION_NONE]) == 0)
        return true;
    *kind = text[0] == 'p' ? ADMISSION_PERMITS : ADMISSION_SEMAPHORE;
    if (strncmp(text, WORDS[*kind], strlen(WORDS[*kind])) != 0)
        return false;
    digits = text + strlen(WORDS[*kind]);
    n = digits[0] >= '1' && digits[0] <= '9' ? strtol(digits, &end, 10) : 0;
    if (n < 1 || n > DLOCK_COUNT_MAX || *end != '\0')
        return false;
    *limit = (int)n;
    return true;
}

static bool complain(const char *what)
{
    fprintf(stderr, "seckilld: %s\n", what);
    return false;
}

static bool is_address(const char *flag, const char *text)
{
    char host[64];
    int port = 0;

    if (address_parse(text, host, &port))
        return true;
    fprintf(stderr,
            "seckilld: %s must be HOST:PORT with one IPv4 address as its HOST, such as "
            "127.0.0.1:8081 or 0.0.0.0:8081, not \"%s\"\n",
            flag, text);
    return false;
}

/* Is this a valid process name?  It is written into rows, JSON and metrics. */
static bool is_process_name(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789_.:-");

    return n > 0 && n <= CONFIG_PROCESS_MAX && name[n] == '\0';
}

static bool is_admission(const struct config *c)
{
    enum config_admission kind;
    int limit;

    if (!config_parse_admission(c->admission, &kind, &limit)) {
        fprintf(stderr,
                "seckilld: --admission must be none, semaphore:N or permits:N with N "
                "from 1 to %d, such as permits:64, not \"%s\"\n",
                (int)DLOCK_COUNT_MAX, c->admission);
        return false;
    }
    if (kind != ADMISSION_NONE && c->redis_url == NULL)
        return complain("--admission needs --redis-url (or SECKILL_REDIS_URL): its "
                        "permits are counted in Redis");
    return true;
}

/* The names of the locks with a fence, for a sentence. */
static const char *fenced_locks(char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < dlock_variant_count() && len < size; i++)
        if (dlock_variant_at(i)->caps & DLOCK_CAP_FENCED)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len > 0 ? ", " : "",
                                    dlock_variant_at(i)->name);
    return out;
}

/* Can the stock guard work under this lock?  False: stderr says why not. */
static bool is_guard_of_use(const struct config *c)
{
    char names[256];

    if (!guard_find(c->stock_guard)->needs_fence)
        return true;
    if (!(dlock_variant_find(c->lock)->caps & DLOCK_CAP_FENCED)) {
        fprintf(stderr,
                "seckilld: --stock-guard=%s needs a lock that hands out fences, which "
                "--lock=%s does not; use one of %s\n",
                c->stock_guard, c->lock, fenced_locks(names, sizeof(names)));
        return false;
    }
    if (word_of(config_scope_at, c->lock_scope) != SCOPE_VOUCHER) {
        fprintf(stderr,
                "seckilld: --stock-guard=%s needs --lock-scope=voucher: the voucher's "
                "row keeps one fence, and those of different users' locks cannot be "
                "compared\n",
                c->stock_guard);
        return false;
    }
    return true;
}

bool config_has_stream(const struct config *c)
{
    return strcmp(c->order_path, order_path_name_at(ORDER_PATH_stream)) == 0;
}

/* Is this a valid --stream-name, the prefix of keys of Redis? */
static bool is_stream_name(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789_.:-");

    return n > 0 && n <= CONFIG_STREAM_MAX && name[n] == '\0';
}

/* Refuse locks that need a connection for each hold, because the writer holds the locks
 * of a whole batch at once. */
static bool is_stream_of_use(const struct config *c)
{
    if (!config_has_stream(c))
        return true;
    if (c->redis_url == NULL)
        return complain("--order-path=stream needs --redis-url: its orders are queued in Redis");
    if (strstr(c->redis_url, "-cluster://") != NULL)
        return complain("--order-path=stream cannot use a Redis Cluster, which may have its keys "
                        "on several nodes: give it redis:// or redis-sentinel://");
    if (!is_stream_name(c->stream_name))
        return complain("--stream-name must be 1 to 64 of A-Z a-z 0-9 _ . : -");
    if (dlock_store_of(dlock_variant_find(c->lock)) != DLOCK_STORE_POSTGRES ||
        word_of(config_scope_at, c->lock_scope) == SCOPE_VOUCHER)
        return true;
    fprintf(stderr,
            "seckilld: --order-path=stream with --lock=%s needs --lock-scope=voucher: with "
            "--lock-scope=user its writer holds the locks of a whole batch, and each lock in "
            "PostgreSQL has a connection of its own; --lock=reentrant does with "
            "--lock-scope=user\n",
            c->lock);
    return false;
}

static bool is_path_of_use(const struct config *c)
{
    if (!order_path_commits_for_others(c->order_path) ||
        word_of(config_unlock_at, c->unlock) != UNLOCK_BEFORE_COMMIT)
        return true;
    fprintf(stderr,
            "seckilld: --unlock=before-commit needs --order-path=each: with "
            "--order-path=%s one thread commits the orders of others, and no order can "
            "give its lock back before\n",
            c->order_path);
    return false;
}

static bool has_store(const struct config *c)
{
    const char *const urls[DLOCK_STORE_COUNT] = {
#define LOCAL_STORE(id, name)
#define STORE(id, name, product, field, ...) [DLOCK_STORE_##id] = c->field,
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    };
    enum dlock_store store = dlock_store_of(dlock_variant_find(c->lock));
    const struct dlock_store_row *row = dlock_store_row(store);

    if (row->flag == NULL || urls[store] != NULL)
        return true;
    fprintf(stderr, "seckilld: this --lock needs %s (or %s)\n", row->flag,
            row->environment);
    return false;
}

static bool check(struct config *c, const struct settings *s)
{
    uint32_t fronts[CONFIG_FRONTS_MAX];
    size_t front_count;

    if (!is_address("--listen", c->listen) ||
        !is_address("--admin-listen", c->admin_listen))
        return false;
    if (!config_parse_fronts(c->front, fronts, &front_count)) {
        fprintf(stderr,
                "seckilld: --front must be 1 to %d IPv4 addresses with commas between, "
                "such as 10.0.0.2,10.0.0.3, not \"%s\"\n",
                (int)CONFIG_FRONTS_MAX, c->front);
        return false;
    }
    if (!config_read_databases(c->database_url, c->lock_database_url, s, &c->databases) ||
        !config_addresses_are_good(s))
        return false;
    if (c->token_key_file == NULL)
        return complain("--token-key-file (or SECKILL_TOKEN_KEY_FILE) is missing: "
                        "name the file with the key of the tokens; a lab has one: . .lab/env");
    if (c->admin_host != NULL && !admin_hosts_are_good(c->admin_host))
        return complain("--admin-host must be names or addresses without ports, with "
                        "commas between, such as shop-admin,10.0.0.5, or *");
    if (c->process != NULL && !is_process_name(c->process))
        return complain("--process must be 1 to 63 of A-Z a-z 0-9 _ . : -");
    return has_store(c) && is_guard_of_use(c) && is_path_of_use(c) &&
           is_stream_of_use(c) && is_admission(c);
}

/* Set the path of the admin token: beside the keys, unless a setting names it. */
static void find_admin_token(struct config *c)
{
    if (c->admin_token_file != NULL)
        (void)snprintf(c->admin_token_path, sizeof(c->admin_token_path), "%s",
                       c->admin_token_file);
    else
        (void)admin_token_beside(c->token_key_file, c->admin_token_path,
                                 sizeof(c->admin_token_path));
}

/* Lower the limits of waiting orders to what the connections can reach.  An order that holds a
 * session for its lock waits with its worker, so that --workers limits the sessions. */
static void derive_waiting(struct config *c)
{
    if (c->orders_waiting >= c->connections)
        c->orders_waiting = c->connections > 1 ? c->connections - 1 : 1;
    if (c->voucher_orders_waiting > c->orders_waiting)
        c->voucher_orders_waiting = c->orders_waiting;
    c->voucher_leaders = 1;
    if (!order_path_commits_for_others(c->order_path) && c->database_connections > 1)
        c->voucher_leaders = c->database_connections - 1; /* the last is for other vouchers */
    c->waits_without_worker =
        c->lock_scope_is_voucher ||
        !(dlock_variant_find(c->lock)->caps & DLOCK_CAP_SESSION);
}

static void derive(struct config *c)
{
    char host[40] = "host";

    dlock_random_bytes(&c->process_number, sizeof(c->process_number));
    (void)gethostname(host, sizeof(host) - 1);
    if (c->process != NULL)
        (void)snprintf(c->process_name, sizeof(c->process_name), "%s", c->process);
    else
        (void)snprintf(c->process_name, sizeof(c->process_name), "%s:%d", host,
                       (int)getpid());
    find_admin_token(c);
    c->lock_knows_readers = dlock_variant_find(c->lock)->caps & DLOCK_CAP_SHARED;
    c->lock_scope_is_voucher = word_of(config_scope_at, c->lock_scope) == SCOPE_VOUCHER;
    c->redlock_is_sequential =
        word_of(config_redlock_at, c->redlock) == REDLOCK_SEQUENTIAL;
    c->unlock_before_commit =
        word_of(config_unlock_at, c->unlock) == UNLOCK_BEFORE_COMMIT;
    c->unlock_waits = word_of(config_unlock_at, c->unlock) != UNLOCK_LATER;
    derive_waiting(c);
    (void)duplicate_guard_find(c->duplicate_guard, &c->duplicates);
    (void)config_parse_fronts(c->front, c->fronts, &c->front_count);
    (void)config_parse_admission(c->admission, &c->admission_kind, &c->admission_limit);
    c->level =
        (enum log_level)((size_t)LOG_DEBUG + word_of(config_level_at, c->log_level));
    c->format = (enum log_format)word_of(config_log_format_at, c->log_format);
}

enum settings_result config_load(struct config *config, struct settings *s, int argc,
                                 char **argv)
{
    enum settings_result result = settings_load(s, &config_program, config, argc, argv);

    if (result != SETTINGS_OK)
        return result;
    if (!check(config, s))
        return SETTINGS_USAGE;
    derive(config);
    return SETTINGS_OK;
}
