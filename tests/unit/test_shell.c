/* SPDX-License-Identifier: MIT */
/* test_shell.c -- a shell reads each printed word as the word that was given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/shell.h"
#include "tests/registered.h"

static char *printed(void (*print)(FILE *out, const char *word), const char *word)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    print(out, word);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* The shell prints the number of its words, and the first. */
static void shell_reads(const char *text, const char *word)
{
    char command[512], said[512], expected[512];
    size_t length;
    FILE *from;

    snprintf(command, sizeof command, "set -- %s; printf '%%s:%%s' $# \"$1\"", text);
    snprintf(expected, sizeof expected, "1:%s", word);
    from = popen(command, "r");
    assert_non_null(from);
    length = fread(said, 1, sizeof said - 1, from);
    said[length] = '\0';
    assert_int_equal(pclose(from), 0);
    assert_string_equal(said, expected);
}

TEST(a_shell_reads_what_was_given)
{
    static const char *const WORDS[] = {
        "runs/latest", "/tmp/My Lab (x)/.lab", "it's", "'",
        "$HOME `id` \\ \" *?[a] ~ # ; & | < > !", "", "a\nb", "~", "-n", "实验 环境", "{a,b}",
    };

    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        char *plain = printed(shell_print_word, WORDS[i]);
        char *quoted = printed(shell_print_quoted, WORDS[i]);

        shell_reads(plain, WORDS[i]);
        shell_reads(quoted, WORDS[i]);
        free(plain);
        free(quoted);
    }
}

TEST(a_message_has_the_same_word)
{
    static const char *const WORDS[] = {"runs/latest", "/tmp/my lab", "it's", "", "$HOME"};
    char word[SHELL_WORD_MAX];

    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        shell_reads(shell_word(word, WORDS[i]), WORDS[i]);
}

TEST(a_long_path_is_whole)
{
    char path[FILES_PATH_MAX] = "", word[SHELL_WORD_MAX], wanted[SHELL_WORD_MAX] = "'";

    memset(path, ' ', sizeof path - 1);
    memset(wanted + 1, ' ', sizeof path - 1);
    wanted[sizeof path] = '\'';
    assert_string_equal(shell_word(word, path), wanted);
}

TEST(a_plain_path_has_no_quotes)
{
    char *text = printed(shell_print_word, ".lab/env");

    assert_string_equal(text, ".lab/env");
    free(text);
}
