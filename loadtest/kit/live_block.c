/* SPDX-License-Identifier: MIT */
/* live_block.c -- lines of a terminal that are drawn over again and again. */
#include "loadtest/kit/live_block.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/style.h"

enum { COLUMNS_UNKNOWN = 80, ROWS_UNKNOWN = 24, BLOCK_MAX = 16384, LINE_END_MAX = 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool is_shown;

bool live_block_is_possible(void)
{
    return report_is_live(stderr);
}

/* The length of an escape sequence that sets a style; 0: none begins here. */
static size_t style_size(const char *text)
{
    size_t size;

    if (strncmp(text, "\033[", 2) != 0)
        return 0;
    size = 2 + strspn(text + 2, "0123456789;");
    return text[size] == 'm' ? size + 1 : 0;
}

/* The length of the next character, whose width is one column. */
static size_t character_size(const char *text)
{
    size_t size = 1;

    while (((unsigned char)text[size] & 0xc0) == 0x80)
        size++;
    return size;
}

/* Copy a line as far as it fits; *used grows.  Styles are copied to the line's end, so that what
 * was begun ends. */
static void fit_line(const char *line, size_t length, int columns, char *out, size_t size,
                     size_t *used)
{
    for (size_t i = 0; i < length;) {
        size_t style = style_size(line + i), n = style ? style : character_size(line + i);

        if ((style || columns-- > 0) && *used + n < size) {
            memcpy(out + *used, line + i, n);
            *used += n;
        }
        i += n;
    }
}

/* Write the lines of `text` as they fit into `columns` and `rows`, each followed by
 * "\033[K" and "\r\n", the last by "\033[K" alone, and answer how many lines these are.
 * `out` holds `size` bytes; what does not fit is left out.  Columns count characters of
 * UTF-8. */
static int fit(const char *text, int columns, int rows, char *out, size_t size)
{
    size_t used = 0;
    int lines = 0;

    while (*text && lines < rows && used + LINE_END_MAX < size) {
        size_t length = strcspn(text, "\n");

        if (lines++ > 0)
            used += (size_t)snprintf(out + used, size - used, "\r\n");
        fit_line(text, length, columns, out, size - LINE_END_MAX, &used);
        used += (size_t)snprintf(out + used, size - used, "\033[K");
        text += length;
        text += *text != '\0';
    }
    out[used] = '\0';
    return lines;
}

static void write_all(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(STDERR_FILENO, text, size);

        if (n <= 0)
            return; /* a terminal that is gone shows nothing */
        text += n;
        size -= (size_t)n;
    }
}

void live_block_draw(const char *text)
{
    struct winsize terminal = {0};
    char out[BLOCK_MAX];
    size_t used = 1;
    int lines, columns = COLUMNS_UNKNOWN, rows = ROWS_UNKNOWN;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0) {
        columns = terminal.ws_col;
        rows = terminal.ws_row > 0 ? terminal.ws_row : ROWS_UNKNOWN;
    }
    pthread_mutex_lock(&mutex);
    out[0] = '\r';
    /* A character in the last column would leave the cursor between two lines. */
    lines = fit(text, columns - 1, rows > 1 ? rows - 1 : 1, out + used,
                sizeof out - used - LINE_END_MAX);
    used = strlen(out);
    used += (size_t)snprintf(out + used, sizeof out - used, "\033[J");
    if (lines > 1)
        used += (size_t)snprintf(out + used, sizeof out - used, "\033[%dA", lines - 1);
    used += (size_t)snprintf(out + used, sizeof out - used, "\r");
    interrupt_erases(true);
    fflush(stderr);
    write_all(out, used);
    is_shown = true;
    pthread_mutex_unlock(&mutex);
}

void live_block_hide(void)
{
    static const char erase[] = "\r\033[J";

    pthread_mutex_lock(&mutex);
    if (is_shown)
        write_all(erase, sizeof erase - 1);
    is_shown = false;
    interrupt_erases(false);
    pthread_mutex_unlock(&mutex);
}
