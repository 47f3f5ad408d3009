/* SPDX-License-Identifier: MIT */
/* http_answer.c -- an HTTP/1.1 answer, taken from a connection's bytes (RFC 9112). */
#include "loadtest/open_loop/http_answer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A line without its end; NULL: none is whole. */
struct line {
    const char *text;
    size_t size;
};

static struct line next_line(const char **at, const char *end)
{
    const char *feed = memchr(*at, '\n', (size_t)(end - *at));
    struct line line = {0};

    if (!feed)
        return line;
    line.text = *at;
    line.size = (size_t)(feed - *at);
    if (line.size > 0 && feed[-1] == '\r')
        line.size--;
    *at = feed + 1;
    return line;
}

/* "HTTP/1.x DDD ..." */
static bool read_status(struct line line, int *status)
{
    if (line.size < 12 || memcmp(line.text, "HTTP/1.", 7) != 0 || line.text[8] != ' ')
        return false;
    *status = 0;
    for (int i = 9; i < 12; i++) {
        if (!isdigit((unsigned char)line.text[i]))
            return false;
        *status = *status * 10 + (line.text[i] - '0');
    }
    return *status >= 200 && (line.size == 12 || line.text[12] == ' ');
}

/* The value of the field `name` in `line`, without the spaces around it; a NULL text: the
 * line is another field's. */
static struct line value_of(struct line line, const char *name)
{
    size_t size = strlen(name);
    struct line value = {0};

    if (line.size <= size || line.text[size] != ':' ||
        strncasecmp(line.text, name, size) != 0)
        return value;
    value.text = line.text + size + 1;
    value.size = line.size - size - 1;
    while (value.size > 0 && (*value.text == ' ' || *value.text == '\t')) {
        value.text++;
        value.size--;
    }
    while (value.size > 0 && isspace((unsigned char)value.text[value.size - 1]))
        value.size--;
    return value;
}

static bool read_length(struct line value, size_t *length)
{
    *length = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (!isdigit((unsigned char)value.text[i]) || *length > HTTP_ANSWER_MAX)
            return false;
        *length = *length * 10 + (size_t)(value.text[i] - '0');
    }
    return value.size > 0;
}

/* Read one field into *out.  False: the field cannot be understood. */
static bool take_field(struct line line, struct received_answer *out, bool *has_length)
{
    struct line value = value_of(line, "Content-Length");

    if (value.text) {
        *has_length = true;
        return read_length(value, &out->body_size);
    }
    value = value_of(line, "X-Outcome");
    if (value.text && value.size < sizeof out->outcome) {
        memcpy(out->outcome, value.text, value.size);
        out->outcome[value.size] = '\0';
    }
    value = value_of(line, "Connection");
    if (value.text && value.size == 5 && strncasecmp(value.text, "close", 5) == 0)
        out->closes = true;
    return !value_of(line, "Transfer-Encoding").text;
}

enum http_answer_state http_answer_read(const char *bytes, size_t size,
                                        struct received_answer *out)
{
    const char *at = bytes, *end = bytes + size;
    enum http_answer_state unfinished =
        size < HTTP_ANSWER_MAX ? HTTP_ANSWER_PART : HTTP_ANSWER_NONSENSE;
    struct line line = next_line(&at, end);
    bool has_length = false;

    *out = (struct received_answer){0};
    if (!line.text)
        return unfinished;
    if (!read_status(line, &out->status))
        return HTTP_ANSWER_NONSENSE;
    for (line = next_line(&at, end); line.text && line.size > 0; line = next_line(&at, end))
        if (!take_field(line, out, &has_length))
            return HTTP_ANSWER_NONSENSE;
    if (!line.text)
        return unfinished;
    if (!has_length)
        return HTTP_ANSWER_NONSENSE;
    out->body = at;
    out->size = (size_t)(at - bytes) + out->body_size;
    if (out->size > HTTP_ANSWER_MAX)
        return HTTP_ANSWER_NONSENSE;
    return out->size <= size ? HTTP_ANSWER_WHOLE : HTTP_ANSWER_PART;
}
