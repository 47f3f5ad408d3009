/* SPDX-License-Identifier: MIT */
/* message.c -- makes one line of libpq's messages, and reads SQLSTATEs in them. */
#include "base/postgres/message.h"

#include <stdio.h>
#include <string.h>

#include "base/os/refusal.h"
#include "base/os/utf8.h"

enum { STATE_LEN = POSTGRES_STATE_SIZE - 1 };

/* The SQLSTATE in a line "...: SEVERITY:  28P01: text"; NULL: the line has none. */
static const char *state_in(const char *line, size_t len)
{
    for (size_t i = 2; i + STATE_LEN + 2 <= len; i++)
        if (line[i - 1] == ' ' && line[i - 2] == ' ' &&
            strspn(line + i, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == STATE_LEN &&
            line[i + STATE_LEN] == ':' && line[i + STATE_LEN + 1] == ' ')
            return line + i;
    return NULL;
}

void postgres_message_state(char state[POSTGRES_STATE_SIZE], const char *text)
{
    const char *found = state_in(text, strlen(text));

    (void)snprintf(state, POSTGRES_STATE_SIZE, "%s", found != NULL ? found : "");
}

/* Add `len` bytes of text as they are shown, and a blank for a tab. */
static void add(char *out, size_t size, const char *text, size_t len)
{
    char piece[UTF8_PIECE_SIZE];
    size_t used = strlen(out);

    for (const char *end = text + len; text < end; used += strlen(piece)) {
        text += utf8_piece(*text == '\t' ? " " : text, piece);
        if (used + strlen(piece) >= size)
            return;
        strcpy(out + used, piece);
    }
}

/* Join two lines by "; ", or by a blank if the first ends with a punctuation mark. */
static void add_seam(char *out, size_t size)
{
    size_t n = strlen(out);

    if (n > 0)
        add(out, size, "; ", 2);
    if (n > 0 && strchr(".:;,?!", out[n - 1]) != NULL) {
        out[n] = '\0';
        add(out, size, " ", 1);
    }
}

static void add_line(char *out, size_t size, const char *line, size_t len)
{
    static const char PLACE[] = "LOCATION:";
    const char *state = state_in(line, len);
    size_t before = state != NULL ? (size_t)(state - line) : 0;

    if (len == 0 || strncmp(line, PLACE, sizeof(PLACE) - 1) == 0)
        return;
    add_seam(out, size);
    if (state != NULL) {
        add(out, size, line, before);
        before += STATE_LEN + 2;
    }
    add(out, size, line + before, len - before);
}

void postgres_message_fold(char *out, size_t size, const char *text)
{
    out[0] = '\0';
    while (*text != '\0') {
        size_t len;

        text += strspn(text, " \t\r\n");
        len = strcspn(text, "\n");
        for (size_t n = len;; n--) {
            if (n > 0 && strchr(" \t\r", text[n - 1]) != NULL)
                continue;
            add_line(out, size, text, n);
            break;
        }
        text += len;
    }
}

void postgres_message_complete(char *out, size_t size, const char *reason)
{
    size_t n = strlen(out);

    if (n == 0 || out[n - 1] == ':')
        (void)snprintf(out + n, size - n, "%s%s", n > 0 ? " " : "", reason);
}

bool postgres_message_is_of_pooler(const char *text)
{
    return strstr(text, "unsupported startup parameter") != NULL;
}

bool postgres_message_is_final(const char *state, const char *text)
{
    /* libpq's own complaint about an option has no SQLSTATE. */
    if (state[0] == '\0')
        return strncmp(text, "invalid ", 8) == 0;
    return postgres_message_is_of_pooler(text) ||
           refusal_of_text(REFUSAL_POSTGRES, state) == REFUSAL_LASTS;
}

bool postgres_message_spends(const char *state)
{
    return strcmp(state, "25006") == 0 || strcmp(state, "26000") == 0 ||
           strcmp(state, "42P05") == 0;
}
