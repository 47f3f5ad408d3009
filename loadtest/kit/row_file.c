/* SPDX-License-Identifier: MIT */
/* row_file.c -- reads a file of rows. */
#include "loadtest/kit/row_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/utf8.h"
#include "loadtest/kit/files.h"

/* Has the row nothing that a terminal would obey? */
static bool is_shown_as_it_is(const char *row)
{
    for (uint32_t len, value; *row != '\0'; row += len)
        if ((len = (uint32_t)utf8_read(row, &value)) == 0 ||
            (value != '\t' && utf8_is_control(value)))
            return false;
    return true;
}

char *row_file_read(const char *path, const char *what, row_file_fn *take, void *arg)
{
    size_t size = 0;
    char *text = files_read(path, &size), *rest = text, *line;

    if (!text)
        return eprintf("seckill: cannot read %s: %s\n", path, files_reason()), NULL;
    for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        /* The last line ends with the file, and not at a zero byte before it. */
        bool is_cut = rest == NULL && line + strlen(line) < text + size;

        if (!is_cut && (*line == '\0' || *line == '#'))
            continue;
        if (is_cut || !is_shown_as_it_is(line) || !take(arg, line)) {
            eprintf("seckill: %s:%d: this is no %s\n", path, number, what);
            free(text);
            return NULL;
        }
    }
    return text;
}

int row_file_cut(char *row, char *field[], int most)
{
    int count = 0;

    while (count < most && (field[count] = strsep(&row, "\t")) != NULL)
        count++;
    return row ? -1 : count;
}

bool row_file_number(const char *text, int64_t none, int64_t *out)
{
    char *end;

    *out = none;
    if (*text == '\0')
        return none >= 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0';
}
