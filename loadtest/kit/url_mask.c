/* SPDX-License-Identifier: MIT */
/* url_mask.c -- words of a run without the logins and passwords in them. */
#include "loadtest/kit/url_mask.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/memory.h"

static const char KEY[] = "password=";

/* The end of the host in at[0..end). */
static const char *host_end(const char *at, const char *end)
{
    const char *bracket = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;

    if (bracket != NULL)
        return bracket + 1;
    while (at < end && (isalnum((unsigned char)*at) || strchr("._-", *at)))
        at++;
    return at;
}

/* Does at[0..end) begin with hosts and ports, and with no part of a password?  The hosts may be
 * forgotten: then the password stands where a port would. */
static bool begins_with_hosts(const char *at, const char *end, bool has_login)
{
    for (const char *host = at; at < end; host = ++at) {
        at = host_end(at, end);
        if (at < end && *at == ':' && isdigit((unsigned char)at[1]) && (at > host || has_login))
            for (at++; at < end && isdigit((unsigned char)*at);)
                at++;
        if (at < end && *at != ',')
            return strchr("/? =;.)]'\"", *at) || (*at == ':' && at[1] == ' ');
    }
    return true;
}

/* Copy text[0..end), with *** for the value of each option whose name ends in "password". */
static void print_options(FILE *out, const char *at, const char *end)
{
    while (at < end) {
        const char *key = memmem(at, (size_t)(end - at), KEY, sizeof KEY - 1);
        const char *value = key ? key + sizeof KEY - 1 : end;

        fwrite(at, 1, (size_t)(value - at), out);
        if (key)
            fputs(URL_MASK, out);
        at = value;
        if (key && *at == '\'') /* a value of name=value, with blanks in it */
            for (at++; at < end && *at != '\''; at++)
                at += *at == '\\' && at + 1 < end;
        at += key ? strcspn(at, "& ") : 0;
        at = at < end ? at : end;
    }
}

/* The end of the URL whose login begins at `at`: the scheme of the next one, which stands behind a
 * comma or a blank, or the end of the text. */
static const char *end_of(const char *at)
{
    for (const char *next = strstr(at, "://"); next != NULL; next = strstr(next + 1, "://")) {
        const char *scheme = next;

        while (scheme > at && (isalpha((unsigned char)scheme[-1]) || scheme[-1] == '-'))
            scheme--;
        if (scheme > at && scheme < next && strchr(", ", scheme[-1]))
            return scheme;
    }
    return at + strlen(at);
}

/* Is it a flag --...-url?  All settings with a password have such names. */
static bool is_url_flag(const char *word, size_t len)
{
    return len > 2 && strncmp(word, "--", 2) == 0 && memmem(word, len, "-url", 4) != NULL;
}

char *url_mask(const char *before, const char *word)
{
    size_t name = strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : 0;
    const char *at = word + name + (name > 0 && word[name] == '=');
    bool is_url = is_url_flag(word, name) || (before != NULL && !strchr(before, '=') &&
                                              is_url_flag(before, strlen(before)));
    char *masked = NULL;
    size_t size = 0;
    FILE *out;

    if (!is_url && !strstr(at, "://") && !strstr(at, KEY))
        return memory_need(strdup(word));
    out = memory_need(open_memstream(&masked, &size));
    fwrite(word, 1, (size_t)(at - word), out);
    while (*at != '\0') {
        const char *scheme = strstr(at, "://");
        const char *begin = scheme != NULL ? scheme + 3 : at, *end = end_of(begin);
        bool has_hosts = scheme != NULL || is_url;
        const char *login = has_hosts ? memrchr(begin, '@', (size_t)(end - begin)) : NULL;
        const char *rest = login != NULL ? login + 1 : begin;
        /* The @ of a password behind "password=" ends no login. */
        bool is_shown = !has_hosts || (begins_with_hosts(rest, end, login != NULL) &&
                                       !memmem(begin, (size_t)(rest - begin), KEY, sizeof KEY - 1));

        fwrite(at, 1, (size_t)(begin - at), out);
        if (login != NULL || !is_shown)
            fputs(URL_MASK, out);
        if (is_shown && login != NULL)
            fputc('@', out);
        if (is_shown)
            print_options(out, rest, end);
        at = end;
    }
    if (fclose(out) != 0)
        abort();
    return memory_need(masked);
}
