/* SPDX-License-Identifier: MIT */
/* test_lists.c -- lists of vouchers come in pages, and large ones leave no memory behind. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/service/rig.h"

enum {
    SHOP = 4711,
    LONG_SHOP = 4712,
    ODD_SHOP = 4713,
    VOUCHERS = 300,
    ODD_VOUCHERS = 30,
    ANSWER_MAX = 65536,
    CONNECTIONS = 40,
    REQUESTS = 10000,
    MEMORY_KB = 4096,
};

static struct rig_service service;
static struct rig_answer answer;

/* Make vouchers of a shop whose texts repeat one character, up to the longest text. */
static void make_vouchers(int shop, int count, int length, const char *character)
{
    char sql[700];

    (void)snprintf(sql, sizeof(sql),
                   "WITH v AS (INSERT INTO tb_voucher (shop_id, title, sub_title, rules,"
                   " pay_value, actual_value) SELECT %d, left(t, 255), left(t, 255), t,"
                   " 1, 2 FROM repeat(%s, %d) t, generate_series(1, %d)"
                   " RETURNING id)"
                   " INSERT INTO tb_seckill_voucher (voucher_id, stock, begin_time, end_time)"
                   " SELECT id, 1, now(), now() + interval '1 day' FROM v",
                   shop, character, length, count);
    assert_int_equal(db_script(rig_db(), sql), DB_OK);
}

static void ask(const char *path)
{
    assert_true(
        rig_request(service.orders_port, "GET", path, NULL, NULL, &answer));
}

/* The ids of the answer in their order; returns their number. */
static int ids_in_answer(int64_t *ids, int max)
{
    int count = 0;

    for (const char *p = strstr(answer.body, "{\"id\":"); p != NULL;
         p = strstr(p, "{\"id\":")) {
        p += strlen("{\"id\":");
        assert_true(count < max);
        ids[count++] = strtoll(*p == '"' ? p + 1 : p, NULL, 10);
    }
    return count;
}

/* The address of the next page from the answer. Returns false on the last page. */
static bool next_page(char *path, size_t size)
{
    const char *link = strstr(answer.head, "\r\nLink: <");
    const char *end = NULL;

    if (link == NULL)
        return false;
    link += strlen("\r\nLink: <");
    end = strchr(link, '>');
    assert_non_null(end);
    assert_memory_equal(end, ">; rel=\"next\"\r\n", strlen(">; rel=\"next\"\r\n"));
    (void)snprintf(path, size, "%.*s", (int)(end - link), link);
    return true;
}

/* Read the pages from here to the last one: every voucher occurs once, the newest first, and no
 * page has more than `page_max` vouchers, or more bytes than allowed. */
static void follow(const char *first, int expected, int page_max)
{
    int64_t ids[VOUCHERS];
    char path[128];
    int64_t last_id = INT64_MAX;
    int sum = 0;

    (void)snprintf(path, sizeof(path), "%s", first);
    for (bool goes_on = true; goes_on;) {
        int count = 0;

        ask(path);
        assert_int_equal(answer.status, 200);
        assert_true(strlen(answer.head) + strlen(answer.body) <= ANSWER_MAX);
        count = ids_in_answer(ids, VOUCHERS);
        assert_in_range(count, 1, page_max);
        for (int i = 0; i < count; i++) {
            assert_true(ids[i] < last_id);
            last_id = ids[i];
        }
        sum += count;
        goes_on = next_page(path, sizeof(path));
    }
    assert_int_equal(sum, expected);
}

TEST(a_list_has_twenty_unless_told_and_a_hundred_at_most)
{
    int64_t ids[VOUCHERS];

    ask("/api/v1/vouchers");
    assert_int_equal(ids_in_answer(ids, VOUCHERS), 20);
    ask("/voucher/list/4711");
    assert_int_equal(ids_in_answer(ids, VOUCHERS), 20);
    assert_memory_equal(answer.body, "{\"success\":true,\"data\":[{", 25);
    ask("/voucher/list/4711?limit=100");
    assert_int_equal(ids_in_answer(ids, VOUCHERS), 100);
    ask("/api/v1/vouchers?shop=4711&limit=100");
    assert_int_equal(ids_in_answer(ids, VOUCHERS), 100);
}

TEST(the_pages_of_a_list_have_every_voucher_once)
{
    follow("/api/v1/vouchers?shop=4711", VOUCHERS, 20);
    follow("/api/v1/vouchers?limit=100&shop=4711", VOUCHERS, 100);
    follow("/voucher/list/4711?limit=100", VOUCHERS, 100);
    follow("/voucher/list/4711?limit=7", VOUCHERS, 7);
    ask("/api/v1/vouchers?shop=4711&after=1");
    assert_string_equal(answer.body, "[]");
    assert_null(strstr(answer.head, "Link:"));
}

/* The texts are the longest that are possible, in UTF-8 and in JSON. */
TEST(no_answer_is_larger_than_64_kib)
{
    follow("/api/v1/vouchers?shop=4712&limit=100", VOUCHERS, 12);
    follow("/voucher/list/4712?limit=100", VOUCHERS, 12);
    follow("/api/v1/vouchers?shop=4713&limit=100", ODD_VOUCHERS, 7);
    follow("/voucher/list/4713", ODD_VOUCHERS, 7);
}

TEST(a_bad_limit_or_cursor_is_refused)
{
    static const struct {
        const char *query, *says;
    } BAD[] = {
        {"limit=0", "limit must be a number from 1 to 100"},
        {"limit=101", "limit must be a number from 1 to 100"},
        {"limit=-1", "limit must be a number from 1 to 100"},
        {"limit=", "limit must be a number from 1 to 100"},
        {"limit=1x", "limit must be a number from 1 to 100"},
        {"limit=0000000000000000000000000000001", "limit must be a number from 1 to 100"},
        {"after=0", "after must be the id"},
        {"after=x", "after must be the id"},
        {"after=9223372036854775808", "after must be the id"},
    };
    char path[128];

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        for (int face = 0; face < 2; face++) {
            (void)snprintf(path, sizeof(path), "%s?%s",
                           face == 0 ? "/api/v1/vouchers" : "/voucher/list/4711",
                           BAD[i].query);
            ask(path);
            if (answer.status != 400 || strstr(answer.body, BAD[i].says) == NULL)
                fail_msg("%s: %d %s", path, answer.status, answer.body);
        }
    }
    ask("/api/v1/vouchers?shop=4711&page=2");
    assert_int_equal(answer.status, 400);
    ask("/api/v1/vouchers?limits=2");
    assert_int_equal(answer.status, 400);
}

/* The memory of the service, as the kernel counts it. */
static long resident_kb(void)
{
    char path[64];
    char line[256];
    long kb = -1;
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)service.pid);
    file = fopen(path, "r");
    assert_non_null(file);
    while (kb < 0 && fgets(line, sizeof(line), file) != NULL)
        (void)sscanf(line, "VmRSS: %ld", &kb);
    (void)fclose(file);
    assert_true(kb > 0);
    return kb;
}

/* The connections of one client thread, and the number of their answers that were as expected. */
struct reader {
    pthread_t thread;
    int fds[CONNECTIONS / 4];
    const char *path;
    int rounds;
    int good;
};

static void *read_lists(void *arg)
{
    enum { FDS = CONNECTIONS / 4 };
    struct reader *r = arg;
    static _Thread_local struct rig_answer got;
    char head[160];

    (void)snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", r->path);
    for (int round = 0; round < r->rounds; round++) {
        for (int i = 0; i < FDS; i++)
            if (!rig_send(r->fds[i], head, strlen(head)))
                return NULL;
        for (int i = 0; i < FDS; i++) {
            if (!rig_read(r->fds[i], &got, RIG_PATIENCE_MS) || got.status != 200)
                return NULL;
            r->good++;
        }
    }
    return NULL;
}

/* Send `rounds` requests on every connection; returns the number of correct answers. */
static int ask_all(struct reader readers[4], const char *path, int rounds)
{
    int good = 0;

    for (int i = 0; i < 4; i++) {
        readers[i].path = path;
        readers[i].rounds = rounds;
        readers[i].good = 0;
        assert_int_equal(
            pthread_create(&readers[i].thread, NULL, read_lists, &readers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(readers[i].thread, NULL);
        good += readers[i].good;
    }
    return good;
}

/* The connections stay open, so that the memory of their threads is counted. */
TEST(ten_thousand_large_lists_leave_no_memory_behind)
{
    static struct reader readers[4];
    long before_kb;
    long after_kb;

    for (int i = 0; i < CONNECTIONS; i++) {
        int fd = rig_connect(service.orders_port);

        assert_true(fd >= 0);
        readers[i % 4].fds[i / 4] = fd;
    }
    assert_int_equal(ask_all(readers, "/voucher/list/987654", 10), CONNECTIONS * 10);
    before_kb = resident_kb();
    assert_int_equal(
        ask_all(readers, "/voucher/list/4712?limit=100", REQUESTS / CONNECTIONS),
        REQUESTS);
    after_kb = resident_kb();
    print_message("resident: %ld KiB before, %ld KiB after\n", before_kb, after_kb);
    assert_true(after_kb - before_kb <= MEMORY_KB);
    for (int i = 0; i < CONNECTIONS; i++)
        (void)close(readers[i % 4].fds[i / 4]);
}

static int start(void **state)
{
    (void)state;
    /* Take the vouchers of an earlier run off the lists. */
    assert_int_equal(db_script(rig_db(), "UPDATE tb_voucher SET status = 2"
                                         " WHERE shop_id BETWEEN 4711 AND 4713"),
                     DB_OK);
    make_vouchers(ODD_SHOP, ODD_VOUCHERS, 1024, "chr(1)");
    make_vouchers(LONG_SHOP, VOUCHERS, 1024, "chr(128512)");
    make_vouchers(SHOP, VOUCHERS, 10, "'x'");
    service = RIG_START("--lock=none");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    rig_stop(&service);
    return 0;
}

GROUP(start, stop)
