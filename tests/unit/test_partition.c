/* SPDX-License-Identifier: MIT */
/* test_partition.c -- ids name their partition, and the list of URLs is parsed. */
#include <stdio.h>
#include <string.h>

#include "db/partition.h"
#include "tests/registered.h"

static struct partition_urls urls;
static char why[300];

static bool read_urls(const char *text)
{
    why[0] = '\0';
    return partition_urls_read(text, &urls, why, sizeof(why));
}

TEST(the_id_of_a_voucher_names_its_partition)
{
    assert_int_equal(partition_of_voucher(1, 4), 0);
    assert_int_equal(partition_of_voucher(999999999999, 4), 0);
    assert_int_equal(partition_of_voucher(1000000000001, 4), 1);
    assert_int_equal(partition_of_voucher(3999999999999, 4), 3);
    assert_int_equal(partition_of_voucher(4000000000001, 4), 4); /* no partition has this number */
    assert_int_equal(partition_of_voucher(INT64_MAX, 64) < 64, 0);
}

/* An added partition moves no voucher. */
TEST(the_partition_does_not_depend_on_their_number)
{
    for (size_t count = 2; count <= PARTITIONS_MAX; count++) {
        assert_int_equal(partition_of_voucher(17, count), 0);
        assert_int_equal(partition_of_voucher(1000000000017, count), 1);
    }
}

/* A single database may have vouchers with any ids, which other programs have chosen. */
TEST(a_single_database_has_every_voucher)
{
    assert_int_equal(partition_of_voucher(1, 1), 0);
    assert_int_equal(partition_of_voucher(5000000000000, 1), 0);
    assert_int_equal(partition_of_voucher(INT64_MAX, 1), 0);
}

static int64_t order_number(int64_t second, int64_t low)
{
    return second * 4294967296 + low;
}

TEST(the_number_of_an_order_hints_at_its_partition)
{
    assert_int_equal(partition_of_order(order_number(123456789, 1), 4), 0);
    assert_int_equal(partition_of_order(order_number(123456789, 1 << 25), 4), 1);
    assert_int_equal(partition_of_order(order_number(123456789, (4 << 25) - 1), 4), 3);
    assert_int_equal(partition_of_order(order_number(123456789, 7 << 25), 4), 0);
    assert_int_equal(partition_of_order(order_number(123456789, 2147483648 + (1 << 25)), 4), 0);
}

TEST(one_url_is_one_partition)
{
    assert_true(read_urls("postgresql://u:p@h1:5432,h2:5433/db?target_session_attrs=any"));
    assert_int_equal(urls.count, 1);
    assert_true(read_urls("host=h dbname=d user=u"));
    assert_int_equal(urls.count, 1);
    assert_string_equal(partition_url(&urls, 0), "host=h dbname=d user=u");
}

TEST(urls_have_white_space_between_them)
{
    struct partition_urls copy;

    assert_true(read_urls("  postgresql://a/x\n\tpostgresql://b1,b2/x postgres://c/x "));
    copy = urls;
    memset(&urls, 0, sizeof(urls));
    assert_int_equal(copy.count, 3);
    assert_string_equal(partition_url(&copy, 0), "postgresql://a/x");
    assert_string_equal(partition_url(&copy, 1), "postgresql://b1,b2/x");
    assert_string_equal(partition_url(&copy, 2), "postgres://c/x");
}

TEST(a_bad_url_is_named)
{
    assert_false(read_urls("postgresql://a/x redis://b/x"));
    assert_non_null(strstr(why, "URL 2: "));
    assert_false(read_urls("redis://b/x"));
    assert_null(strstr(why, "URL 1"));
    assert_true(why[0] != '\0');
    assert_false(read_urls(" \n "));
    assert_true(why[0] != '\0');
}

/* libpq would take the second URL for a part of the first one, and would show its password. */
TEST(urls_with_a_comma_between_them_are_refused)
{
    assert_false(read_urls("postgresql://u:p@a/x,postgresql://u:secret@b/x"));
    assert_non_null(strstr(why, "white space"));
    assert_null(strstr(why, "secret"));
    assert_false(read_urls("postgresql://a/x postgresql://b/x,postgres://c/x"));
    assert_non_null(strstr(why, "URL 2: "));
}

TEST(one_url_is_no_list_and_no_blanks)
{
    assert_false(db_url_is_valid("postgresql://a/x postgresql://b/x", why, sizeof(why)));
    assert_non_null(strstr(why, "second URL"));
    assert_false(db_url_is_valid(" ", why, sizeof(why)));
    assert_string_equal(why, "there is no URL");
    assert_true(db_url_is_valid("postgresql://a1,a2/x", why, sizeof(why)));
}

TEST(too_many_urls_are_refused)
{
    char text[(PARTITIONS_MAX + 1) * 18 + 1] = "";

    for (size_t i = 0; i <= PARTITIONS_MAX; i++)
        (void)strcat(text, "postgresql://a/xx ");
    assert_false(read_urls(text));
    assert_non_null(strstr(why, "64"));
    text[PARTITIONS_MAX * 18] = '\0';
    assert_true(read_urls(text));
    assert_int_equal(urls.count, PARTITIONS_MAX);
}
