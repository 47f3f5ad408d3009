/* SPDX-License-Identifier: MIT */
/* test_url_mask.c -- no text of a run has a URL's user or password. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/kit/files.h"
#include "loadtest/kit/url_mask.h"
#include "loadtest/page/scene.h"
#include "tests/registered.h"

static const struct {
    const char *text, *masked;
} CASES[] = {
    {"", ""},
    {"://", "://"},
    {"--lock=lua", "--lock=lua"},
    {"redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"},
    {"redis://:SECRET@host:1/0", "redis://***@host:1/0"},
    {"--redis-url=redis://user:SECRET@host", "--redis-url=redis://***@host"},
    {"postgresql://u:SECRET@h/db?application_name=a@b",
     "postgresql://***@h/db?application_name=a@b"},
    {"redis://:SEC@RET@host", "redis://***@host"},
    {"redis://:a:SECRET@h1,redis://SECRET:y@h2,redis://h3",
     "redis://***@h1,redis://***@h2,redis://h3"},
    {"postgresql://h/db?password=SECRET&user=u", "postgresql://h/db?password=***&user=u"},
    {"postgresql://h/db?user=u&sslpassword=x&password=SECRET",
     "postgresql://h/db?user=u&sslpassword=x&password=***"},
    {"redis-sentinel://u:SECRET@h1:26379,h2/shop?db=1&sentinel-password=SECRET&sentinel-user=s",
     "redis-sentinel://***@h1:26379,h2/shop?db=1&sentinel-password=***&sentinel-user=s"},
    {"host=h password=SECRET user=u", "host=h password=*** user=u"},
    {"a \"redis://h\", \"mail@place\"", "a \"redis://h\", \"mail@place\""},
    {"redis://h\nmail@place", "redis://h\nmail@place"},
    {"a password in a sentence", "a password in a sentence"},
    {"redis://:SECRET@", "redis://***@"},
    {"redis://:no-host", "redis://:no-host"},
    {"redis://u:SECRET\\", "redis://u:SECRET\\"}, /* no @: the text names no user */
};

TEST(users_and_passwords_are_masked_and_all_else_stays)
{
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *masked = url_mask(CASES[i].text);

        assert_string_equal(masked, CASES[i].masked);
        free(masked);
    }
}

TEST(a_masked_text_is_masked_already)
{
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *masked = url_mask(CASES[i].masked);

        assert_string_equal(masked, CASES[i].masked);
        free(masked);
    }
}

/* Passwords that JSON, HTML and a shell write in an escaped form are masked too. */
static const char *const PASSWORDS[] = {"SECRET", "'SECRET", "S<>&SECRET", "a\\SECRET",
                                        "\\nSECRET", "SECRET%22", ";SECRET=", "\xc3\xa9SECRET"};

static void nothing_is_left_of_it(char *text)
{
    char *masked = url_mask(text);

    assert_non_null(strstr(text, "SECRET"));
    assert_null(strstr(masked, "SECRET"));
    assert_non_null(strstr(masked, "@host"));
    free(masked);
    free(text);
}

TEST(passwords_are_masked_in_json_and_in_html)
{
    for (size_t i = 0; i < sizeof PASSWORDS / sizeof PASSWORDS[0]; i++) {
        char url[100], *html = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&html, &size);
        json_t *json;

        snprintf(url, sizeof url, "--x=redis://%s:%s@host/0", i % 2 ? "SECRET" : "", PASSWORDS[i]);
        json = json_pack("[s, s]", url, "x@y");
        nothing_is_left_of_it(json_dumps(json, JSON_COMPACT));
        json_decref(json);
        page_text(out, url);
        assert_int_equal(fclose(out), 0);
        nothing_is_left_of_it(html);
    }
}

TEST(a_file_for_others_has_no_password_and_a_secret_file_has)
{
    char dir[] = "/tmp/seckill-mask-XXXXXX", path[FILES_PATH_MAX], *text;
    size_t size;

    assert_non_null(mkdtemp(dir));
    files_join(path, dir, "file");
    assert_true(files_write(path, "redis://:SECRET@host"));
    text = files_read(path, &size);
    assert_string_equal(text, "redis://***@host");
    free(text);
    assert_true(files_write_secret(path, "redis://:SECRET@host"));
    text = files_read(path, &size);
    assert_string_equal(text, "redis://:SECRET@host");
    free(text);
    assert_true(files_remove_tree(dir));
}
