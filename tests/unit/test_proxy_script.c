/* SPDX-License-Identifier: MIT */
/* test_proxy_script.c -- the meaning of the texts of faults, and the texts that are refused. */
#include <string.h>

#include "loadtest/proxy/script.h"
#include "tests/registered.h"

static struct proxy_fault parsed(const char *text)
{
    struct proxy_fault f;
    char why[PROXY_WHY_MAX];

    if (!proxy_fault_parse(&f, PROXY_REDIS, text, why))
        fail_msg("%s", why);
    return f;
}

TEST(a_fault_says_what_where_and_when)
{
    struct proxy_fault f = parsed("cut:fin to-client after message 3 byte 5 of connection 2");

    assert_true(f.action == PROXY_CUT && f.cuts_with_fin);
    assert_int_equal(PROXY_TO_CLIENT, f.direction);
    assert_true(f.when == PROXY_AFTER_MESSAGE && f.count == 3 && f.offset == 5);
    assert_true(f.scope == PROXY_NUMBER && f.connection == 2);
    f = parsed("drop:2 to-client at to-server \"SET a\"");
    assert_true(f.drop_count == 2 && !f.drops_bytes && f.scope == PROXY_FIRST);
    assert_true(f.when == PROXY_AT_WORD && f.seen == PROXY_TO_SERVER);
    assert_string_equal("SET a", f.word);
    f = parsed("drop:10b to-server after byte 7 of each connection");
    assert_true(f.drop_count == 10 && f.drops_bytes && f.scope == PROXY_EACH);
    assert_true(f.when == PROXY_AFTER_BYTE && f.count == 7);
    f = parsed("delay:2s to-client");
    assert_true(f.delay_ms == 2000 && f.when == PROXY_AT_ONCE && f.scope == PROXY_EACH);
    assert_int_equal(PROXY_HALF_CLOSE, parsed("half-close to-server").action);
}

TEST(a_fault_that_is_not_fully_read_is_refused_with_its_reason)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "no fault"},
        {"hodl to-client", "did you mean \"hold\"?"},
        {"explode to-client", "no action"},
        {"hold", "which way?"},
        {"hold sideways", "which way?"},
        {"hold:3 to-client", "takes no argument"},
        {"drop to-client", "drop takes how much"},
        {"drop:0 to-client", "drop takes how much"},
        {"drop:-1 to-client", "drop takes how much"},
        {"delay to-client", "delay takes how long"},
        {"delay:20 to-client", "delay takes how long"},
        {"cut:fast to-client", "rst or fin"},
        {"cut to-client after", "after what?"},
        {"cut to-client after message", "whole number"},
        {"cut to-client after byte x", "whole number"},
        {"cut to-client after message 99999999999999999999", "whole number"},
        {"cut to-client at", "at which word?"},
        {"cut to-client at \"SET", "a quote is not closed"},
        {"cut to-client of connection 0", "whole number from 1"},
        {"cut to-client of each", "of each what?"},
        {"cut to-client please", "what does \"please\" mean"},
        {"cut to-client after message 1 after byte 2", "what does \"after\" mean"},
    };
    struct proxy_fault f;
    char why[PROXY_WHY_MAX];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_false(proxy_fault_parse(&f, PROXY_REDIS, cases[i].text, why));
        if (strstr(why, cases[i].says) == NULL)
            fail_msg("%s: said %s", cases[i].text, why);
    }
}

TEST(raw_bytes_have_no_messages)
{
    static const char *const texts[] = {"drop:1 to-client", "cut to-client after message 1",
                                        "cut to-client at SET"};
    struct proxy_fault f;
    char why[PROXY_WHY_MAX];

    for (size_t i = 0; i < 3; i++) {
        assert_false(proxy_fault_parse(&f, PROXY_RAW, texts[i], why));
        assert_non_null(strstr(why, "raw bytes have no messages"));
    }
    assert_true(proxy_fault_parse(&f, PROXY_RAW, "drop:all to-client", why));
}

TEST(a_script_is_cut_at_lines_and_semicolons_outside_quotes)
{
    static const char *const want[] = {"hold to-client", "cut to-server at \"a;b#c\"",
                                       "release to-client"};
    const char *script = "# two\n hold to-client ;; cut to-server at \"a;b#c\" # why\n"
                         "\n#\n\trelease to-client\r\n";
    char text[PROXY_TEXT_MAX + 1], why[PROXY_WHY_MAX], endless[PROXY_TEXT_MAX + 3];

    for (size_t i = 0; i < 3; i++) {
        assert_true(proxy_script_next(&script, text, why));
        assert_string_equal(want[i], text);
    }
    assert_false(proxy_script_next(&script, text, why));
    assert_string_equal("", why);
    memset(endless, 'x', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    script = endless;
    assert_false(proxy_script_next(&script, text, why));
    assert_non_null(strstr(why, "longer than"));
}
