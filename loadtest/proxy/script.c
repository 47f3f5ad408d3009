/* SPDX-License-Identifier: MIT */
/* script.c -- reads faults.  A fault that cannot be read completely is refused, because a test
 * with a part of a fault would test nothing. */
#include "loadtest/proxy/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "base/text/suggest.h"
#include "loadtest/kit/name_list.h"

enum { WORDS_MAX = 16 };

struct reading {
    struct proxy_fault *fault;
    enum proxy_protocol protocol;
    char words[WORDS_MAX][PROXY_WORD_MAX + 1];
    size_t count, at;
    char *why;
};

#define X(id, name) name,
static NAME_LIST(action_name, PROXY_ACTIONS(X))
#undef X

static const char *const directions[] = {[PROXY_TO_SERVER] = "to-server",
                                         [PROXY_TO_CLIENT] = "to-client"};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reading *r,
                                                         const char *fmt, ...)
{
    va_list args;
    int n = snprintf(r->why, PROXY_WHY_MAX, "\"%s\": ", r->fault->text);

    va_start(args, fmt);
    vsnprintf(r->why + n, PROXY_WHY_MAX - (size_t)n, fmt, args);
    va_end(args);
    return false;
}

/* ---- words ---- */

/* Take a word, with or without quotes, to `out`.  NULL: refused. */
static const char *take_word(struct reading *r, const char *text, char *out)
{
    bool quoted = *text == '"';
    const char *from = text + quoted;
    size_t len = strcspn(from, quoted ? "\"" : " \t\"");

    if (quoted && from[len] != '"') {
        refuse(r, "a quote is not closed");
        return NULL;
    }
    if (len == 0 || len > PROXY_WORD_MAX) {
        refuse(r, "a word has 1 to %d bytes", PROXY_WORD_MAX);
        return NULL;
    }
    memcpy(out, from, len);
    out[len] = '\0';
    return from + len + quoted;
}

static bool split(struct reading *r)
{
    const char *text = r->fault->text;

    for (text += strspn(text, " \t"); *text != '\0'; text += strspn(text, " \t")) {
        if (r->count == WORDS_MAX)
            return refuse(r, "too many words");
        text = take_word(r, text, r->words[r->count]);
        if (text == NULL)
            return false;
        r->count++;
    }
    return true;
}

static const char *peek(const struct reading *r)
{
    return r->at < r->count ? r->words[r->at] : "";
}

static bool take(struct reading *r, const char *word)
{
    if (strcmp(peek(r), word) != 0)
        return false;
    r->at++;
    return true;
}

static bool read_count(const char *text, uint64_t *count)
{
    char *end = NULL;

    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    *count = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool take_count(struct reading *r, const char *of, uint64_t least,
                       uint64_t *count)
{
    if (!read_count(peek(r), count) || *count < least)
        return refuse(r, "after \"%s\" comes a whole number from %d, not \"%s\"", of,
                      (int)least, peek(r));
    r->at++;
    return true;
}

static bool take_direction(struct reading *r, enum proxy_direction *direction)
{
    for (int i = 0; i < 2; i++)
        if (take(r, directions[i])) {
            *direction = (enum proxy_direction)i;
            return true;
        }
    return false;
}

/* ---- the parts of a fault ---- */

static bool read_drop(struct reading *r, char *amount)
{
    struct proxy_fault *f = r->fault;
    size_t len = strlen(amount);

    f->drop_count = UINT64_MAX;
    f->drops_bytes = true;
    if (strcmp(amount, "all") == 0)
        return true;
    f->drops_bytes = len > 1 && amount[len - 1] == 'b';
    if (f->drops_bytes)
        amount[len - 1] = '\0';
    if (!read_count(amount, &f->drop_count) || f->drop_count == 0)
        return refuse(r, "drop takes how much: drop:1 (messages), drop:10b, drop:all");
    if (!f->drops_bytes && r->protocol == PROXY_RAW)
        return refuse(r, "raw bytes have no messages; say drop:10b or drop:all");
    return true;
}

static bool read_argument(struct reading *r, char *argument)
{
    struct proxy_fault *f = r->fault;

    switch (f->action) {
    case PROXY_DROP:
        return read_drop(r, argument);
    case PROXY_DELAY:
        if (!duration_parse(argument, &f->delay_ms) || f->delay_ms == 0 ||
            f->delay_ms > 3600 * 1000)
            return refuse(r, "delay takes how long, up to an hour: delay:20ms");
        return true;
    case PROXY_CUT:
        f->cuts_with_fin = strcmp(argument, "fin") == 0;
        if (!f->cuts_with_fin && *argument != '\0' && strcmp(argument, "rst") != 0)
            return refuse(r, "cut takes rst or fin, not \"%s\"", argument);
        return true;
    default:
        return *argument == '\0' ||
               refuse(r, "%s takes no argument", action_name((size_t)f->action));
    }
}

static bool read_action(struct reading *r)
{
    char *word = r->words[0], *argument = strchr(word, ':');
    const char *near;

    if (argument != NULL)
        *argument++ = '\0';
    for (size_t i = 0; action_name(i) != NULL; i++) {
        if (take(r, action_name(i))) {
            r->fault->action = (enum proxy_action)i;
            return read_argument(r, argument != NULL ? argument : word + strlen(word));
        }
    }
    near = suggest(word, action_name);
    if (near != NULL)
        return refuse(r, "no action \"%s\"; did you mean \"%s\"?", word, near);
    return refuse(r, "no action \"%s\"; hold, release, drop:N, delay:TIME, half-close, "
                     "cut", word);
}

static bool read_offset(struct reading *r)
{
    return !take(r, "byte") || take_count(r, "byte", 1, &r->fault->offset);
}

static bool read_when(struct reading *r)
{
    struct proxy_fault *f = r->fault;

    f->seen = f->direction;
    if (take(r, "after")) {
        take_direction(r, &f->seen);
        f->when = PROXY_AFTER_BYTE;
        if (take(r, "byte"))
            return take_count(r, "byte", 0, &f->count);
        f->when = PROXY_AFTER_MESSAGE;
        if (!take(r, "message"))
            return refuse(r, "after what?  after byte N, or after message N");
        return take_count(r, "message", 0, &f->count) && read_offset(r);
    }
    if (take(r, "at")) {
        take_direction(r, &f->seen);
        f->when = PROXY_AT_WORD;
        if (*peek(r) == '\0')
            return refuse(r, "at which word?  For example: at EVALSHA");
        strcpy(f->word, r->words[r->at++]);
        return read_offset(r);
    }
    return true;
}

static bool read_scope(struct reading *r)
{
    struct proxy_fault *f = r->fault;

    f->scope = f->when == PROXY_AT_ONCE ? PROXY_EACH : PROXY_FIRST;
    if (!take(r, "of"))
        return true;
    if (take(r, "each")) {
        f->scope = PROXY_EACH;
        return take(r, "connection") || refuse(r, "of each what?  of each connection");
    }
    f->scope = PROXY_NUMBER;
    if (!take(r, "connection"))
        return refuse(r, "of what?  of connection K, or of each connection");
    return take_count(r, "connection", 1, &f->connection);
}

static bool has_messages(struct reading *r)
{
    const struct proxy_fault *f = r->fault;

    if (r->protocol == PROXY_RAW &&
        (f->when == PROXY_AFTER_MESSAGE || f->when == PROXY_AT_WORD))
        return refuse(r, "raw bytes have no messages: name the protocol, or count "
                         "bytes");
    return true;
}

bool proxy_fault_parse(struct proxy_fault *out, enum proxy_protocol protocol,
                       const char *text, char *why)
{
    struct reading r = {.fault = out, .protocol = protocol, .why = why};

    memset(out, 0, sizeof *out);
    *why = '\0';
    snprintf(out->text, sizeof out->text, "%s", text);
    if (strlen(text) > PROXY_TEXT_MAX)
        return refuse(&r, "longer than %d bytes", PROXY_TEXT_MAX);
    if (!split(&r))
        return false;
    if (r.count == 0)
        return refuse(&r, "no fault; for example: drop:1 to-client at to-server SET");
    if (!read_action(&r))
        return false;
    if (!take_direction(&r, &out->direction))
        return refuse(&r, "which way?  After the action: to-server or to-client");
    if (!read_when(&r) || !read_scope(&r) || !has_messages(&r))
        return false;
    if (r.at < r.count)
        return refuse(&r, "what does \"%s\" mean there?", peek(&r));
    return true;
}

/* ---- scripts of several faults ---- */

/* The length of the fault at `text`, which ends at a ; or a # or the end of the line. */
static size_t fault_length(const char *text)
{
    bool quoted = false;
    size_t n = 0;

    for (; text[n] != '\0' && text[n] != '\n'; n++) {
        quoted ^= text[n] == '"';
        if (!quoted && (text[n] == ';' || text[n] == '#'))
            break;
    }
    return n;
}

bool proxy_script_next(const char **script, char *out, char *why)
{
    const char *at = *script;
    size_t n;

    *why = '\0';
    for (at += strspn(at, " \t\r\n;"); *at == '#'; at += strspn(at, " \t\r\n;"))
        at += strcspn(at, "\n");
    *script = at;
    n = fault_length(at);
    if (n == 0)
        return false;
    if (n > PROXY_TEXT_MAX) {
        snprintf(why, PROXY_WHY_MAX, "\"%.40s...\": longer than %d bytes", at,
                 PROXY_TEXT_MAX);
        return false;
    }
    *script = at + n;
    while (n > 0 && strchr(" \t\r", at[n - 1]) != NULL)
        n--;
    memcpy(out, at, n);
    out[n] = '\0';
    return true;
}
