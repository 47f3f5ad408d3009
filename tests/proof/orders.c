/* SPDX-License-Identifier: MIT */
/* orders.c -- the answers to clients stay true after any fault: two services sell under load, a
 * server or process fails meanwhile, and afterwards the database is compared with every answer. The
 * path `stream` breaks promises when its Redis loses its data, and in no other case.
 *
 *     prove-orders [--order-path=NAME|all] [--times=N] [PATTERN]
 *
 * Each fault is tried N times, on each path; PATTERN is cmocka's, of tests.
 *
 * A lab of its own is up while a fault is tried. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/sale_columns.h"
#include "tests/proof/buyers.h"
#include "tests/service/commit_proxy.h"
#include "tests/service/file_limit.h"
#include "tests/service/rig.h"
#include "tests/service/rig_inside.h"
#include "tests/service/stream_rig.h"

/* ---- a disk for the servers of the lab, which can be filled ---- */

/* Room for a new cluster, some segments of its WAL, and the orders of a round. */
#define DISK_OPTIONS "size=320m,mode=1777"

static char disk_path[] = "/tmp/seckill-proof-disk-XXXXXX";
static char disk_ballast[sizeof(disk_path) + 16];
static bool disk_is_mounted, disk_has_namespace;
static char *data_before; /* SECKILL_LAB_DATA before the disk was mounted; NULL: it was unset */

/* Later laboratories keep their data where earlier ones did. */
static void restore_data(void)
{
    if (data_before != NULL)
        (void)setenv("SECKILL_LAB_DATA", data_before, 1);
    else
        (void)unsetenv("SECKILL_LAB_DATA");
    free(data_before);
    data_before = NULL;
}

/* Call before the lab is up and before the first thread: the lab's data goes to the disk. Returns
 * false if this process may not mount. */
static bool disk_mount(void)
{
    const char *data = getenv("SECKILL_LAB_DATA");

    /* The mount is visible to no other program, and ends with the last process. */
    disk_has_namespace = disk_has_namespace ||
                    (unshare(CLONE_NEWNS) == 0 &&
                     mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                     mkdtemp(disk_path) != NULL);
    if (!disk_has_namespace || (mkdir(disk_path, 0700) != 0 && errno != EEXIST) ||
        mount("none", disk_path, "tmpfs", 0, DISK_OPTIONS) != 0)
        return false;
    disk_is_mounted = true;
    (void)snprintf(disk_ballast, sizeof(disk_ballast), "%s/disk_ballast", disk_path);
    data_before = data != NULL ? strdup(data) : NULL;
    return setenv("SECKILL_LAB_DATA", disk_path, 1) == 0;
}

/* Call after the lab is down. There need be no disk. */
static void disk_unmount(void)
{
    if (disk_is_mounted) {
        (void)umount2(disk_path, MNT_DETACH);
        restore_data();
    }
    (void)rmdir(disk_path);
    disk_is_mounted = false;
}

/* Fill the disk: first write blocks of a megabyte, and then fill the rest. */
static void disk_fill(void)
{
    int fd = open(disk_ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    off_t bytes = 0;

    assert_true(fd >= 0);
    for (off_t step = 1 << 20; step >= 4096; step /= 16)
        while (fallocate(fd, 0, bytes, step) == 0)
            bytes += step;
    (void)close(fd);
    assert_true(bytes > 0);
}

static void disk_empty(void)
{
    (void)unlink(disk_ballast);
}

/* ---- the books: the answers to the buyers and the rows of the database ---- */

struct books {
    int64_t accepted, queued, refused, open; /* requests, by the knowledge of their buyers */
    int64_t rows;                            /* orders of both vouchers */
    int64_t broken; /* queued requests without a row of the number in their answer */
    char broken_example[64]; /* the request of a broken promise */
};

enum { ROWS_AT_ONCE = 5000 };

#define OF_VOUCHERS " voucher_id IN ($1, $2) "

/* Each query finds rows that must not exist: their number and an example. */
static const struct question {
    const char *says;
    struct postgres_statement ask;
} QUESTIONS[] = {
    {"accepted requests have no row, or more than one, or one of another number",
     {"books_accepted",
      "SELECT count(*), min(t.id) FROM told t WHERE t.told = 1 AND $1 <> $2 AND 1 <>"
      " (SELECT count(*) FROM tb_voucher_order o WHERE o.request_id = t.id AND"
      " o.user_id = t.user_id AND o.voucher_id = t.voucher_id AND o.id = t.order_id)",
      "ii"}},
    {"refused requests have a row",
     {"books_refused",
      "SELECT count(*), min(t.id) FROM told t JOIN tb_voucher_order o ON"
      " o.request_id = t.id WHERE t.told = 2 AND $1 <> $2",
      "ii"}},
    {"rows are of no request",
     {"books_unasked",
      "SELECT count(*), min(o.request_id) FROM tb_voucher_order o WHERE" OF_VOUCHERS
      "AND NOT EXISTS (SELECT FROM told t WHERE t.id = o.request_id AND"
      " t.user_id = o.user_id AND t.voucher_id = o.voucher_id)",
      "ii"}},
    {"rows are further ones of a user",
     {"books_twice",
      "SELECT count(*), min(request_id) FROM (SELECT request_id, row_number() OVER"
      " (PARTITION BY voucher_id, user_id ORDER BY id) AS n FROM tb_voucher_order WHERE"
      OF_VOUCHERS ") AS o WHERE n > 1",
      "ii"}},
    {"rows have no line in the record of writes, or more than one",
     {"books_unwritten",
      "SELECT count(*), min(o.request_id) FROM tb_voucher_order o WHERE" OF_VOUCHERS
      "AND 1 <> (SELECT count(*) FROM tb_voucher_write w WHERE w.outcome = 'accepted'"
      " AND w.request_id = o.request_id AND w.user_id = o.user_id"
      " AND w.voucher_id = o.voucher_id)",
      "ii"}},
    {"accepted lines of the record of writes have no row",
     {"books_unsold",
      "SELECT count(*), min(w.request_id) FROM tb_voucher_write w WHERE" OF_VOUCHERS
      "AND w.outcome = 'accepted' AND NOT EXISTS (SELECT FROM tb_voucher_order o WHERE"
      " o.request_id = w.request_id AND o.user_id = w.user_id"
      " AND o.voucher_id = w.voucher_id)",
      "ii"}},
};

static const struct postgres_statement BROKEN = {
    "books_broken",
    "SELECT count(*), min(t.id) FROM told t WHERE t.told = 3 AND $1 <> $2 AND 1 <>"
    " (SELECT count(*) FROM tb_voucher_order o WHERE o.request_id = t.id AND"
    " o.user_id = t.user_id AND o.voucher_id = t.voucher_id AND o.id = t.order_id)",
    "ii"};

static void run(const char *sql)
{
    if (db_script(rig_db(), sql) != DB_OK)
        fail_msg("%s: %s", sql, db_error(rig_db()));
}

static size_t add_some(size_t first, struct books *books)
{
    static const struct postgres_statement INSERT = {
        "books_insert",
        "INSERT INTO told SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[],"
        " $4::bigint[], $5::bigint[])",
        "ttttt"};
    struct sale_column ids = {0}, users = {0}, vouchers = {0}, orders = {0}, told = {0};
    const struct buyers_request *r;
    size_t i = first;

    for (; i < first + ROWS_AT_ONCE && (r = buyers_request_at(i)) != NULL; i++) {
        sale_column_add_text(&ids, r->id);
        sale_column_add_integer(&users, rig_user(r->user));
        sale_column_add_integer(&vouchers, r->voucher);
        sale_column_add_integer(&orders, r->order_id);
        sale_column_add_integer(&told, r->told);
        books->accepted += r->told == TOLD_ACCEPTED;
        books->queued += r->told == TOLD_QUEUED;
        books->refused += r->told == TOLD_REFUSED;
        books->open += r->told == TOLD_OPEN;
    }
    if (i > first &&
        db_run_one(rig_db(), &INSERT,
                   DB_VALUES(DB_TEXT(sale_column_text(&ids)),
                             DB_TEXT(sale_column_text(&users)),
                             DB_TEXT(sale_column_text(&vouchers)),
                             DB_TEXT(sale_column_text(&orders)),
                             DB_TEXT(sale_column_text(&told)))) != DB_OK)
        fail_msg("cannot keep what buyers were told: %s", db_error(rig_db()));
    sale_column_free(&ids);
    sale_column_free(&users);
    sale_column_free(&vouchers);
    sale_column_free(&orders);
    sale_column_free(&told);
    return i - first;
}

/* The backend of a killed process notices the end only when it sends something. */
static bool is_quiet(void *arg)
{
    static const struct postgres_statement BUSY = {
        "books_busy",
        "SELECT count(*) FROM pg_stat_activity WHERE usename = 'seckill_service'"
        " AND xact_start IS NOT NULL", ""};

    (void)arg;
    return db_run_one(rig_db(), &BUSY, NULL) == DB_OK && db_int(rig_db(), 0, 0, 0) == 0;
}

/* The number of rows that the statement finds; the second column has an example. */
static int64_t count_of(const struct postgres_statement *ask, const int64_t vouchers[2])
{
    if (db_run_one(rig_db(), ask, DB_VALUES(DB_INT(vouchers[0]), DB_INT(vouchers[1]))) !=
        DB_OK)
        fail_msg("%s: %s", ask->name, db_error(rig_db()));
    return db_int(rig_db(), 0, 0, 0);
}

/* Call after buyers_stop(), when no service runs. Waits until no transaction of a service is open,
 * and compares. Broken promises are counted; the test fails with an example unless
 *   - every accepted request has exactly one row, with the number in its answer;
 *   - no refused request has a row;
 *   - every row is of a request that a buyer has sent, for that user and voucher;
 *   - no user has two rows of a voucher;
 *   - stock left and rows add up to what was issued, and the stock is not negative;
 *   - the record of writes has one accepted line for each row, and no other. */
static struct books books_audit(const int64_t vouchers[2], const int64_t issued[2])
{
    struct books books = {0};

    if (!rig_until(is_quiet, NULL, RIG_PATIENCE_MS))
        fail_msg("transactions of services that have ended are still open");
    run("SET statement_timeout = '60s'"); /* the machine may be busy */
    run("CREATE TEMPORARY TABLE IF NOT EXISTS told (id text PRIMARY KEY, user_id bigint,"
        " voucher_id bigint, order_id bigint, told bigint); TRUNCATE told");
    for (size_t i = 0, n = 1; n > 0; i += n)
        n = add_some(i, &books);
    run("ANALYZE told, tb_voucher_order, tb_voucher_write");
    for (size_t i = 0; i < sizeof(QUESTIONS) / sizeof(QUESTIONS[0]); i++) {
        if (count_of(&QUESTIONS[i].ask, vouchers) != 0)
            fail_msg("%lld %s, such as %s", (long long)db_int(rig_db(), 0, 0, 0),
                     QUESTIONS[i].says, db_text(rig_db(), 0, 0, 1));
    }
    books.broken = count_of(&BROKEN, vouchers);
    if (books.broken > 0)
        (void)snprintf(books.broken_example, sizeof(books.broken_example), "%s",
                       db_text(rig_db(), 0, 0, 1));
    for (int v = 0; v < 2; v++) {
        int64_t rows = rig_orders(vouchers[v]), left = rig_stock(vouchers[v]);

        books.rows += rows;
        if (left < 0 || left + rows != issued[v])
            fail_msg("%lld vouchers were issued, %lld are left and %lld are sold",
                     (long long)issued[v], (long long)left, (long long)rows);
    }
    return books;
}

enum { ROUND_ORDERS = 100 }; /* the orders that are awaited before and after a fault */

/* May a fault lose orders that were queued and have no row yet? */
enum round_promises { ROUND_KEEPS, ROUND_BREAKS };

struct round {
    int number;
    const char *database_flag; /* a flag with another URL of PostgreSQL; NULL: the lab's URL */
    int64_t vouchers[2], issued[2];
    struct rig_service services[BUYERS_SERVICES];
};

enum {
    MANY = 1000000,
    FEW = 300,
    BATCH_OF_A_WRITER = 128,
    /* More than the writers can take at once. */
    MANY_WAITING = BUYERS_SERVICES * BATCH_OF_A_WRITER + ROUND_ORDERS,
};

/* The rounds use these in turn. The last one sells by the fence, which a Redis that loses its data
 * would break. */
static const char *const CONFIGS[][4] = {
    {"--lock=none", "--lock-scope=user", "--stock-guard=conditional", NULL},
    {"--lock=reentrant", "--lock-scope=user", "--stock-guard=version", NULL},
    {"--lock=reentrant", "--lock-scope=voucher", "--stock-guard=row-lock", NULL},
    {"--lock=fenced", "--lock-scope=voucher", "--stock-guard=fence", NULL},
};
enum { CONFIG_COUNT = sizeof(CONFIGS) / sizeof(CONFIGS[0]), KEEPS_FENCES = CONFIG_COUNT - 1 };

/* The differences between the order paths that are proved. */
static const struct order_path {
    const char *name, *flag;
    const char *metric; /* a metric that counts the orders that the path has sold */
    bool is_queued;
} PATHS[] = {
    {"combined", "--order-path=combined", "seckill_batched_orders_total ", false},
    {"stream", "--order-path=stream", "seckill_stream_written_total ", true},
};

static struct round round_now; /* the one that goes on */
static const struct order_path *sold_by = &PATHS[0];
static const char *const *config; /* of the present round */

/* The name of the order path number `i`; NULL behind the last one. */
static const char *round_path_at(int i)
{
    return i < (int)(sizeof(PATHS) / sizeof(PATHS[0])) ? PATHS[i].name : NULL;
}

/* Use this order path from now on. */
static void round_choose_path(int i)
{
    sold_by = &PATHS[i];
}

/* Does the order path queue orders, and write their rows later? */
static bool round_is_queued(void)
{
    return sold_by->is_queued;
}

static struct rig_service start_service(void)
{
    const char *args[] = {
        sold_by->flag, stream_flag(), "--stream-claim=3s", "--workers=32", "--lock-wait=500ms",
        "--lock-lease=2s", "--statement-timeout=2s", "--settle-timeout=2s",
        "--redis-timeout=1s", "--idle-transaction-timeout=3s", "--duplicate-guard=unique",
        rig_record_flag(), config[0], config[1], config[2], round_now.database_flag, NULL};

    return rig_start(args);
}

/* Begin the round of that number, from which its lock and guards are drawn, and wait for the first
 * orders. `forgets`: the round's Redis will lose its data, so no round with `forgets` uses the
 * fence. */
static void round_begin(int number, bool forgets)
{
    struct round *r = &round_now;
    int ports[BUYERS_SERVICES];

    config = CONFIGS[number % (forgets ? KEEPS_FENCES : CONFIG_COUNT)];
    stream_anew();
    r->number = number;
    r->issued[0] = MANY;
    r->issued[1] = FEW;
    for (int v = 0; v < 2; v++)
        r->vouchers[v] = rig_voucher(r->issued[v]);
    for (int i = 0; i < BUYERS_SERVICES; i++) {
        r->services[i] = start_service();
        ports[i] = r->services[i].orders_port;
    }
    buyers_start(r->vouchers, ports);
    buyers_await_served(ROUND_ORDERS, "at the start");
}

/* Start a killed service again, and tell the buyers its port. */
static void round_restart_service(int i)
{
    round_now.services[i] = start_service();
    buyers_move(i, round_now.services[i].orders_port);
}

/* ---- orders that wait ---- */

static bool are_many_waiting(void *unused)
{
    (void)unused;
    return stream_waiting() >= MANY_WAITING;
}

static void await_many_waiting(const char *when)
{
    if (!rig_until(are_many_waiting, NULL, RIG_PATIENCE_MS))
        fail_msg("only %lld orders wait %s", (long long)stream_waiting(), when);
}

/* Hold the row of the first voucher until round_let_writers_go(), and wait until orders of it wait
 * in the stream that no writer has taken. */
static void round_stop_writers(void)
{
    char sql[128];

    (void)snprintf(sql, sizeof(sql),
                   "BEGIN; SELECT FROM tb_seckill_voucher WHERE voucher_id = %lld FOR UPDATE",
                   (long long)round_now.vouchers[0]);
    run(sql);
    await_many_waiting("while the voucher's row is held");
}

static void round_let_writers_go(void)
{
    run("ROLLBACK");
}

/* Wait until orders cannot be written any more: either their buyers are told to come again, or the
 * orders wait in the stream. */
static void round_await_trouble(const char *when)
{
    if (sold_by->is_queued)
        await_many_waiting(when);
    else
        buyers_await_refused(ROUND_ORDERS, when);
}

/* ---- the end ---- */

static double sold_by_path(void)
{
    double sum = 0;

    for (int i = 0; i < BUYERS_SERVICES; i++)
        sum += rig_metric(&round_now.services[i], sold_by->metric);
    return sum;
}

/* Wait for orders after the fault, stop the buyers, wait until no order is queued, stop the
 * services, and compare. With ROUND_BREAKS at least one queued order must have lost its row, and
 * with ROUND_KEEPS none. Everything else has to match in both cases. */
static void round_end(const char *fault, enum round_promises promises)
{
    struct round *r = &round_now;
    struct books books;
    double sold;

    buyers_await_served(ROUND_ORDERS, fault);
    buyers_stop();
    if (sold_by->is_queued)
        stream_await_waiting(0);
    sold = sold_by_path();
    for (int i = 0; i < BUYERS_SERVICES; i++)
        rig_stop(&r->services[i]);
    if (buyers_odd()[0] != '\0')
        fail_msg("%s", buyers_odd());
    rig_forget_database();
    books = books_audit(r->vouchers, r->issued);
    print_message("# %s, round %d %s, %s %s %s: %lld accepted, %lld queued, %lld refused, %lld"
                  " open, %lld rows, %.0f by the path, %lld promises broken\n",
                  sold_by->name, r->number + 1, fault, config[0], config[1], config[2],
                  (long long)books.accepted, (long long)books.queued,
                  (long long)books.refused, (long long)books.open, (long long)books.rows,
                  sold, (long long)books.broken);
    assert_true(sold > 0);
    if (promises == ROUND_BREAKS && books.broken == 0)
        fail_msg("no promise is broken %s", fault);
    if (promises == ROUND_KEEPS && books.broken > 0)
        fail_msg("%lld promises are broken, such as %s", (long long)books.broken,
                 books.broken_example);
}

enum { CUTS = 6 };

static int times = 1;

/* ---- the faults ---- */

static void a_service_is_killed(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        int victim = n % BUYERS_SERVICES;

        round_begin(n, false);
        rig_signal(&round_now.services[victim], SIGKILL);
        assert_int_equal(rig_wait(&round_now.services[victim], RIG_PATIENCE_MS),
                         128 + SIGKILL);
        round_restart_service(victim);
        round_end("after a service was killed", ROUND_KEEPS);
    }
}

static void postgres_ends_at_once(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        round_begin(n, false);
        /* After SIGQUIT and after SIGKILL the server has to recover from its WAL. */
        if (n % 2 == 0)
            assert_int_equal(kill(rig_lab_pid("postgres"), SIGQUIT), 0);
        else
            rig_lab_kill("postgres");
        rig_lab_restart("postgres");
        round_end("after PostgreSQL ended at once", ROUND_KEEPS);
    }
}

static void end_redis(int n)
{
    if (n % 2 == 1)
        rig_lab_kill("redis");
    rig_lab_restart("redis");
}

/* Redis keeps nothing on its disk. Of the orders in the stream, those that no writer has taken are
 * lost. */
static void redis_ends_at_once(void **state)
{
    bool is_queued = round_is_queued();

    (void)state;
    for (int n = 0; n < times; n++) {
        round_begin(n, true);
        if (is_queued)
            round_stop_writers();
        end_redis(n);
        if (is_queued)
            round_let_writers_go();
        round_end("after Redis ended", is_queued ? ROUND_BREAKS : ROUND_KEEPS);
    }
}

/* Redis writes to its disk before it answers. */
static void redis_with_a_log_ends_at_once(void **state)
{
    bool is_queued = round_is_queued();

    (void)state;
    stream_keep_all();
    for (int n = 0; n < times; n++) {
        round_begin(n, false);
        if (is_queued)
            round_stop_writers();
        end_redis(n);
        if (is_queued)
            round_let_writers_go();
        round_end("after Redis with a log ended", ROUND_KEEPS);
    }
}

static bool are_dropped(void *count)
{
    return commit_proxy_dropped() >= *(int *)count;
}

/* The COMMIT is executed and its answer is lost, or the COMMIT itself is lost. */
static void a_commit_is_not_answered(void **state)
{
    char flag[512];

    (void)state;
    for (int n = 0; n < times; n++) {
        commit_proxy_start(flag, sizeof(flag));
        round_now.database_flag = flag;
        round_begin(n, false);
        for (int cut = 1; cut <= CUTS; cut++) {
            commit_proxy_set(cut % 2 == 1 ? DROP_ANSWER : DROP_COMMIT);
            buyers_await_served(ROUND_ORDERS, "while COMMITs are not answered");
            if (!rig_until(are_dropped, &cut, RIG_PATIENCE_MS))
                fail_msg("there was no COMMIT to drop");
        }
        round_end("after COMMITs were not answered", ROUND_KEEPS);
        assert_int_equal(commit_proxy_dropped(), CUTS);
        commit_proxy_stop();
        round_now.database_flag = NULL;
    }
}

static bool has_ended(pid_t pid)
{
    char path[64], state = 'Z';
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%*d %*s %c", &state) != 1)
        state = 'Z';
    if (file != NULL)
        (void)fclose(file);
    return state == 'Z';
}

/* A server without room for its WAL ends, and cannot recover until there is room. */
static void the_disk_is_full(void **state)
{
    bool is_disk = *(bool *)*state;

    for (int n = 0; n < times; n++) {
        pid_t postgres = rig_lab_pid("postgres");

        if (!is_disk)
            file_limit_prepare();
        round_begin(n, false);
        if (is_disk)
            disk_fill();
        else
            file_limit_set();
        round_await_trouble("while the disk is full");
        if (is_disk)
            disk_empty();
        else
            file_limit_end();
        if (has_ended(postgres))
            rig_lab_restart("postgres");
        round_end(is_disk ? "after a full disk" : "after files could not grow", ROUND_KEEPS);
    }
}

/* ---- */

static int lab_up(void **state)
{
    (void)state;
    round_now.database_flag = NULL; /* an earlier test may have failed */
    rig_lab_up();
    return 0;
}

static int lab_down(void **state)
{
    (void)state;
    buyers_stop();
    rig_lab_down();
    return 0;
}

static int disk_up(void **state)
{
    static bool is_disk;

    is_disk = disk_mount();
    (void)lab_up(state);
    *state = &is_disk;
    return 0;
}

static int disk_down(void **state)
{
    (void)lab_down(state);
    disk_unmount();
    return 0;
}

static int prove(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_is_killed, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(postgres_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_with_a_log_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(a_commit_is_not_answered, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(the_disk_is_full, disk_up, disk_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const char *path = "all";
    bool has_path = false;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--times=", 8) == 0)
            times = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--order-path=", 13) == 0)
            path = argv[i] + 13;
        else
            cmocka_set_test_filter(argv[i]);
    }
    if (times < 1) {
        fprintf(stderr, "prove-orders: --times must be 1 or more\n");
        return 64;
    }
    for (int i = 0; round_path_at(i) != NULL; i++) {
        if (strcmp(path, "all") != 0 && strcmp(path, round_path_at(i)) != 0)
            continue;
        round_choose_path(i);
        failed += prove();
        has_path = true;
    }
    if (!has_path) {
        fprintf(stderr, "prove-orders: there is no --order-path=%s\n", path);
        return 64;
    }
    return failed > 0;
}
