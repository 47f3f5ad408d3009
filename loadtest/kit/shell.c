/* SPDX-License-Identifier: MIT */
#include "loadtest/kit/shell.h"

#include <string.h>

#include "loadtest/kit/memory.h"

void backslash_print(FILE *out, const char *text, const char *special)
{
    for (const char *p = text; *p; p++) {
        if (strchr(special, *p))
            fputc('\\', out);
        fputc(*p, out);
    }
}

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789-_./:=@%+,";

void shell_print_quoted(FILE *out, const char *word)
{
    fputc('\'', out);
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            fputs("'\\''", out);
        else
            fputc(*p, out);
    }
    fputc('\'', out);
}

void shell_print_word(FILE *out, const char *word)
{
    if (*word && word[strspn(word, plain)] == '\0')
        fputs(word, out);
    else
        shell_print_quoted(out, word);
}

void shell_print_path(FILE *out, const char *dir, const char *name)
{
    char path[FILES_PATH_MAX];

    files_join(path, dir, name);
    shell_print_word(out, path);
}

const char *shell_word(char out[SHELL_WORD_MAX], const char *word)
{
    FILE *text = memory_need(fmemopen(out, SHELL_WORD_MAX, "w"));

    out[0] = '\0';
    shell_print_word(text, word);
    fclose(text);
    out[SHELL_WORD_MAX - 1] = '\0';
    return out;
}
