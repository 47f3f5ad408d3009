/* SPDX-License-Identifier: MIT */
/* test_voucher.c -- a sale window to the microsecond, vouchers in JSON, hints of a sold-out
 * voucher. */
#include <stdio.h>
#include <string.h>

#include "app/sold_out.h"
#include "app/voucher_json.h"
#include "base/text/duration.h"
#include "tests/registered.h"

TEST(both_ends_belong_to_the_sale)
{
    const struct voucher_window w = {7, 1000, 2000, 0, true};
    const struct voucher_window instant = {7, 1000, 1000, 0, true};

    assert_int_equal(voucher_phase_at(&w, 999), VOUCHER_NOT_STARTED);
    assert_int_equal(voucher_phase_at(&w, 1000), VOUCHER_ON_SALE);
    assert_int_equal(voucher_phase_at(&w, 1500), VOUCHER_ON_SALE);
    assert_int_equal(voucher_phase_at(&w, 2000), VOUCHER_ON_SALE);
    assert_int_equal(voucher_phase_at(&w, 2001), VOUCHER_ENDED);
    assert_int_equal(voucher_phase_at(&instant, 1000), VOUCHER_ON_SALE);
    assert_int_equal(voucher_phase_at(&instant, 1001), VOUCHER_ENDED);
}

TEST(a_voucher_that_is_not_on_offer_is_on_sale_at_no_time)
{
    const struct voucher_window w = {7, 1000, 2000, 0, false};

    assert_int_equal(voucher_phase_at(&w, 999), VOUCHER_ENDED);
    assert_int_equal(voucher_phase_at(&w, 1500), VOUCHER_ENDED);
    assert_int_equal(voucher_phase_at(&w, 2001), VOUCHER_ENDED);
}

/* The database's clock decides about the window, not this machine's. */
TEST(the_clock_is_the_databases)
{
    const struct voucher_window w = {.clock_ahead_us = 7000000};
    int64_t before_us = monotonic_ns() / 1000;
    int64_t clock_us = voucher_clock_us(&w);
    int64_t after_us = monotonic_ns() / 1000;

    assert_in_range(clock_us, before_us + 7000000, after_us + 7000000);
}

static int64_t instant(const char *text)
{
    int64_t us = -1;

    return voucher_read_instant(text, &us) ? us : -1;
}

TEST(times_are_read)
{
    assert_int_equal(instant("1970-01-01T00:00:01"), 1000000);
    assert_int_equal(instant("1970-01-01T00:00:01Z"), 1000000);
    assert_int_equal(instant("1970-01-01T08:00:01+08:00"), 1000000);
    assert_int_equal(instant("1969-12-31T19:00:01-05:00"), 1000000);
    assert_int_equal(instant("1970-01-01T00:00:00.5"), 500000);
    assert_int_equal(instant("1970-01-01T00:00:00.123456789Z"), 123456);
    assert_int_equal(instant("2024-02-29T00:00:00Z"), 1709164800000000);
    assert_int_equal(instant("9999-12-31T23:59:59Z"), 253402300799000000);
    assert_int_equal(instant("9999-12-31T23:59:59.999999Z"), 253402300799999999);
    assert_int_equal(instant("1900-01-01T00:00:00Z"), -2208988800000000);
}

TEST(a_text_that_is_no_time_is_refused)
{
    static const char *const BAD[] = {
        "",
        "2024-01-01",
        "2024-01-01 00:00:00",
        "2023-02-29T00:00:00",
        "2024-13-01T00:00:00",
        "2024-00-01T00:00:00",
        "2024-01-00T00:00:00",
        "2024-01-01T24:00:00",
        "2024-01-01T00:60:00",
        "2024-01-01T00:00:61",
        "2024-01-01T00:00:00.",
        "2024-01-01T00:00:00z",
        "2024-01-01T00:00:00+8",
        "2024-01-01T00:00:00+15:00",
        "2024-01-01T00:00:00 ",
        "1899-01-01T00:00:00",
        "1900-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "now",
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_int_equal(instant(BAD[i]), -1);
}

#define TIMES \
    "\"beginTime\":\"2024-01-01T00:00:00\",\"endTime\":\"2024-01-02T00:00:00\""

TEST(a_voucher_is_read_and_written)
{
    static const char JSON[] = "{\"title\":\"t\",\"payValue\":1,\"actualValue\":2,"
                               "\"stock\":3,\"subTitle\":null," TIMES "}";
    struct voucher_draft draft;
    struct text out = {0};

    assert_true(voucher_draft_read(&draft, JSON, strlen(JSON)));
    assert_int_equal(draft.voucher.shop_id, 1);
    assert_int_equal(draft.voucher.stock, 3);
    assert_null(draft.voucher.sub_title);
    draft.voucher.id = 9;
    draft.voucher.status = 1;
    voucher_write(&out, &draft.voucher, true);
    assert_string_equal(out.bytes,
                        "{\"id\":\"9\",\"shopId\":1,\"title\":\"t\",\"payValue\":1,"
                        "\"actualValue\":2,\"type\":1,\"status\":1,\"stock\":3,"
                        "\"beginTime\":\"2024-01-01T00:00:00Z\","
                        "\"endTime\":\"2024-01-02T00:00:00Z\"}");
    text_free(&out);
    voucher_draft_free(&draft);
}

/* A time that is shown can be read back. */
TEST(times_are_written_with_their_fraction)
{
    static const struct {
        int64_t us;
        const char *text;
    } TIMES_OF[] = {
        {0, "1970-01-01T00:00:00Z"},
        {900000, "1970-01-01T00:00:00.9Z"},
        {1000001, "1970-01-01T00:00:01.000001Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
        {-500000, "1969-12-31T23:59:59.5Z"},
        {-1000000, "1969-12-31T23:59:59Z"},
    };

    for (size_t i = 0; i < sizeof(TIMES_OF) / sizeof(TIMES_OF[0]); i++) {
        struct voucher voucher = {.end_us = TIMES_OF[i].us};
        struct text out = {0};
        char expected[64];

        (void)snprintf(expected, sizeof(expected), ",\"endTime\":\"%s\"}", TIMES_OF[i].text);
        voucher_write(&out, &voucher, true);
        assert_string_equal(strstr(out.bytes, ",\"endTime\""), expected);
        assert_int_equal(instant(TIMES_OF[i].text), TIMES_OF[i].us);
        text_free(&out);
    }
}

TEST(brackets_in_a_text_are_no_nesting)
{
    static const char JSON[] = "{\"title\":\"\\\"[[[[[[[[\\\\\",\"payValue\":1,"
                               "\"actualValue\":2,\"stock\":3," TIMES "}";
    struct voucher_draft draft;

    assert_true(voucher_draft_read(&draft, JSON, strlen(JSON)));
    assert_string_equal(draft.voucher.title, "\"[[[[[[[[\\");
    voucher_draft_free(&draft);
}

#define TEN "1234567890"

TEST(the_wrong_field_is_named)
{
    static const struct {
        const char *json, *wrong;
    } BAD[] = {
        {"{", "JSON: "},
        {"[]", "JSON: must be an object"},
        {"[[[[]]]]", "JSON: must be an object"},
        {"[[[[[]]]]]", "JSON: is nested too deeply"},
        {"{\"a\\\"\":[{\"b\":[[", "JSON: is nested too deeply"},
        {"{\"a\":1}", "a: no such field"},
        /* A text of 39 bytes before a character of 3 bytes, which does not fit into 40 bytes. */
        {"{\"" TEN TEN TEN "123456789\xe4\xbb\xa3\":1}",
         TEN TEN TEN "123456789: no such field"},
        {"{\"" TEN TEN TEN "1234567\xe4\xbb\xa3z\":1}",
         TEN TEN TEN "1234567\xe4\xbb\xa3: no such field"},
        {"{\"title\":1}", "title: must be a text"},
        {"{\"title\":\"\"}", "title: is empty"},
        {"{\"title\":\"t\",\"payValue\":-1}", "payValue: must be from 1 to 1000000000"},
        {"{\"title\":\"t\",\"payValue\":1.5}", "payValue: must be a whole number"},
        {"{\"title\":\"t\",\"payValue\":1,\"actualValue\":1}", "stock: is missing"},
        {"{\"title\":\"t\",\"title\":\"u\"}", "JSON: "},
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct voucher_draft draft;

        assert_false(voucher_draft_read(&draft, BAD[i].json, strlen(BAD[i].json)));
        assert_int_equal(strncmp(draft.wrong, BAD[i].wrong, strlen(BAD[i].wrong)), 0);
        voucher_draft_free(&draft);
    }
}

/* Notes of which the first is old are renewed together, by one request, while they are wanted. */
TEST(old_notes_of_sold_out_are_asked_for_together)
{
    static struct sold_out s;
    static int64_t ids[SOLD_OUT_ASKED_MAX];
    const int64_t ms = 1000000, begun_ns = 5000 * ms;
    const int64_t old_ns = begun_ns + SOLD_OUT_OLD_MS * ms;

    for (int64_t voucher = 1; voucher <= 3; voucher++)
        sold_out_note(&s, voucher, begun_ns);
    assert_int_equal(sold_out_ask(&s, 2, old_ns - 1, ids), 0);
    assert_int_equal(sold_out_ask(&s, 2, old_ns, ids), 3);
    assert_int_equal(ids[0], 2);
    assert_int_equal(ids[1], 3);
    assert_int_equal(ids[2], 1);
    assert_int_equal(sold_out_ask(&s, 1, old_ns, ids), 0); /* the other request asks */
    sold_out_asked(&s);
    sold_out_note(&s, 2, old_ns);
    assert_int_equal(sold_out_ask(&s, 2, old_ns, ids), 0); /* the note is new */
    assert_true(sold_out_hint(&s, 3, old_ns + ms));
    assert_int_equal(sold_out_ask(&s, 3, begun_ns + SOLD_OUT_WANTED_MS * ms, ids), 1);
    assert_int_equal(ids[0], 3);
    sold_out_asked(&s);
    assert_int_equal(sold_out_ask(&s, 3, begun_ns + SOLD_OUT_WANTED_MS * ms + 1, ids), 0);
    assert_int_equal(sold_out_ask(&s, 3 + SOLD_OUT_SLOTS, old_ns, ids), 0); /* it has no note */
}

TEST(a_hint_of_sold_out_ends_by_itself)
{
    static struct sold_out s;
    const int64_t asked_ns = 1000;
    const int64_t end_ns = asked_ns + (int64_t)SOLD_OUT_MS * 1000000;

    assert_false(sold_out_hint(&s, 5, asked_ns));
    sold_out_note(&s, 5, asked_ns);
    assert_true(sold_out_hint(&s, 5, asked_ns));
    assert_true(sold_out_hint(&s, 5, end_ns - 1));
    assert_false(sold_out_hint(&s, 5, end_ns));
    assert_false(sold_out_hint(&s, 6, asked_ns));
    /* Two vouchers use one slot, and the later one overwrites the earlier one. */
    sold_out_note(&s, 5 + SOLD_OUT_SLOTS, asked_ns);
    assert_false(sold_out_hint(&s, 5, asked_ns));
    assert_true(sold_out_hint(&s, 5 + SOLD_OUT_SLOTS, asked_ns));
}
