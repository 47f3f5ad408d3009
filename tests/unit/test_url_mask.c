/* SPDX-License-Identifier: MIT */
/* test_url_mask.c -- no text of a run has a URL's user or password, whatever the URL is. */
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
    {"--", "--"},
    {"a@b", "a@b"},
    {"lock:a@b", "lock:a@b"}, /* a name of a lock */
    {"redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"},
    {"redis://:SECRET@host:1/0", "redis://***@host:1/0"},
    {"--redis-url=redis://user:SECRET@host", "--redis-url=redis://***@host"},
    {"--redis-url=user:SECRET@host", "--redis-url=***@host"},
    {"--redis-url=:SECRET", "--redis-url=***"},
    {"--zookeeper-url=h:1,h2:3/a", "--zookeeper-url=h:1,h2:3/a"},
    {"postgresql://u:SECRET@h/db?sslmode=require", "postgresql://***@h/db?sslmode=require"},
    {"redis://:SEC@RET@host", "redis://***@host"},
    {"redis://:SEC/RET@host", "redis://***@host"},
    {"redis://:SEC?RET#SEC@host", "redis://***@host"},
    {"redis://:SECRET://SECRET@host", "redis://***@host"},
    {"redis://:SEC RET%zz@host", "redis://***@host"},
    {"http://u:SEC/RET@h:1,h2:2", "http://***@h:1,h2:2"},
    {"redis://:a:SECRET@h1,redis://SECRET:y@h2,redis://h3",
     "redis://***@h1,redis://***@h2,redis://h3"},
    {"redis://u:SECRET", "redis://***"},
    {"redis://:1SECRET", "redis://***"},
    {"redis://u:1%zzSECRET", "redis://***"},
    {"redis://[::1]:7/0", "redis://[::1]:7/0"},
    {"unix:///run/s", "unix:///run/s"},
    {"postgresql://h/db?password=SECRET&user=u", "postgresql://h/db?password=***&user=u"},
    {"postgresql://h/db?password=SEC@RET&user=u", "postgresql://***"},
    {"postgresql://h/db?user=u&sslpassword=x&password=SECRET",
     "postgresql://h/db?user=u&sslpassword=***&password=***"},
    {"redis-sentinel://u:SECRET@h1:26379,h2/shop?db=1&sentinel-password=SECRET&sentinel-user=s",
     "redis-sentinel://***@h1:26379,h2/shop?db=1&sentinel-password=***&sentinel-user=s"},
    {"host=h password=SECRET user=u", "host=h password=*** user=u"},
    {"host=h password='SEC RET\\'SECRET' user=u", "host=h password=*** user=u"},
    {"a \"redis://h\", \"place\"", "a \"redis://h\", \"place\""},
    {"redis://h:1: refused", "redis://h:1: refused"},
    {"a password in a sentence", "a password in a sentence"},
    {"redis://:SECRET@", "redis://***@"},
};

TEST(users_and_passwords_are_masked_and_hosts_stay)
{
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char *masked = url_mask(NULL, CASES[i].text), *again = url_mask(NULL, masked);

        assert_string_equal(masked, CASES[i].masked);
        assert_string_equal(again, CASES[i].masked);
        free(masked);
        free(again);
    }
}

static void nothing_is_left_of_it(char *text)
{
    assert_null(strstr(text, "SEC"));
    assert_null(strstr(text, "RET"));
    assert_non_null(strstr(text, "@host"));
    free(text);
}

/* A flag and its value may be two words. */
TEST(passwords_are_masked_in_json_and_in_html)
{
    static const char *const PASSWORDS[] = {"SECRET", "'SECRET", "S<>&SECRET", "a\\SECRET",
                                            "\\nSECRET", "SECRET%22", ";SECRET=", "\"SECRET",
                                            "\xc3\xa9SECRET", "SEC@RET", "SEC/RET", "SEC\nRET"};

    for (size_t i = 0; i < sizeof PASSWORDS / sizeof PASSWORDS[0]; i++) {
        char url[100], *html = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&html, &size);
        json_t *json;

        snprintf(url, sizeof url, "--x=redis://%s:%s@host/0", i % 2 ? "SECRET" : "", PASSWORDS[i]);
        json = json_pack("{s:[s, s, s]}", "a", url, "--etcd-url", strstr(url, ":"));
        nothing_is_left_of_it(files_json_text(json, JSON_COMPACT));
        json_decref(json);
        page_text(out, url);
        assert_int_equal(fclose(out), 0);
        nothing_is_left_of_it(html);
    }
}

TEST(a_file_for_others_has_no_password_and_a_secret_file_has)
{
    char dir[] = "/tmp/seckill-mask-XXXXXX", path[FILES_PATH_MAX], *text;
    json_t *json = json_pack("[s, i, n, b]", "redis://:SECRET@host", 7, 1);
    size_t size;

    assert_non_null(mkdtemp(dir));
    files_join(path, dir, "file");
    assert_true(files_write_json(path, json));
    text = files_read(path, &size);
    assert_string_equal(text, "[\n  \"redis://***@host\",\n  7,\n  null,\n  true\n]\n");
    free(text);
    assert_true(files_write_secret_json(path, json));
    text = files_read(path, &size);
    assert_non_null(strstr(text, "redis://:SECRET@host"));
    free(text);
    json_decref(json);
    assert_true(files_remove_tree(dir));
}
