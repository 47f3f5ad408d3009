/* SPDX-License-Identifier: MIT */
/* url_mask.c -- text of a run without the users and passwords of the URLs in it. */
#include "loadtest/kit/url_mask.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

static const char password_key[] = "password=";

/* Whether the byte at `at` ends a URL or a value: white space, or the end of a text of JSON or
 * of an attribute. */
static bool is_end(const char *at)
{
    return (unsigned char)*at <= ' ' || *at == '"';
}

/* The first byte behind the character at `at`.  A backslash of JSON or of a shell and the byte
 * after it are one character. */
static const char *behind(const char *at)
{
    return at + (at[0] == '\\' && at[1] != '\0' ? 2 : 1);
}

/* The last @ of the authority that begins at `at`; NULL: the URL has no user.  HTML writes an
 * apostrophe in a password as &#39;, and this # does not end the authority. */
static const char *user_end(const char *at)
{
    const char *last = NULL;

    for (const char *c = at; !is_end(c) && *c != '/' && *c != '?'; c = behind(c)) {
        if (*c == '#' && (c == at || c[-1] != '&'))
            break;
        if (*c == '@')
            last = c;
    }
    return last;
}

/* The end of the value that begins at `at`.  In HTML &amp; separates two values, and other names
 * between & and ; are characters of this value. */
static const char *value_end(const char *at)
{
    while (!is_end(at) && strncmp(at, "&amp;", 5) != 0 &&
           (*at != '&' || strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
            strncmp(at, "&#", 2) == 0 || strncmp(at, "&quot;", 6) == 0))
        at = behind(at);
    return at;
}

static bool begins_value(const char *text, const char *at)
{
    return strncmp(at, password_key, sizeof password_key - 1) == 0 && at > text &&
           strchr("?&; '\"-", at[-1]);
}

char *url_mask(const char *text)
{
    char *masked = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&masked, &size));

    for (const char *at = text; *at;) {
        const char *end = NULL;
        size_t kept = 1 + strcspn(at + 1, ":p"); /* no other character begins a masked value */

        if (strncmp(at, "://", 3) == 0) {
            kept = 3;
            end = user_end(at + kept);
        } else if (*at == 'p' && begins_value(text, at)) {
            kept = sizeof password_key - 1;
            end = value_end(at + kept);
        }
        fwrite(at, 1, kept, out);
        at += kept;
        if (end) {
            fputs(URL_MASK, out);
            at = end;
        }
    }
    if (fclose(out) != 0)
        abort();
    return memory_need(masked);
}
