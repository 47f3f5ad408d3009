/* SPDX-License-Identifier: MIT */
/* etcd_address.c -- where an etcd is: the URL of the option etcd_url, taken apart. */
#include "lock/stores/etcd_address.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

enum { HOST_MAX = 255, PORT_MAX = 65535 };

#define DEFAULT_PORT "2379"
#define FORM "http://[user:password@]host:port[,host:port...], or https://"

/* `url` goes wrong at `at`. */
static bool refuse(char why[ETCD_WHY_SIZE], const char *url, const char *at, const char *text)
{
    snprintf(why, ETCD_WHY_SIZE, "at character %td: %s; it has to be " FORM, at - url + 1, text);
    return false;
}

/* A byte that may stand in the name of a host, in a number of one, or in [::1]. */
static bool is_of_host(char c)
{
    return isalnum((unsigned char)c) || strchr(".-_:[]", c) != NULL;
}

/* The length of the host in the `len` bytes at `text`: what stands before the port. */
static size_t host_length(const char *text, size_t len)
{
    size_t host = len;

    while (host > 0 && text[host - 1] != ':' && text[host - 1] != ']')
        host--;
    return host > 0 && text[host - 1] == ':' ? host - 1 : len;
}

static bool read_member(const char *url, const char *scheme, const char *text, size_t len,
                        char *out, char why[ETCD_WHY_SIZE])
{
    size_t host = host_length(text, len);
    const char *port = host < len ? text + host + 1 : DEFAULT_PORT;
    size_t port_len = host < len ? len - host - 1 : strlen(DEFAULT_PORT);
    int64_t number;

    if (host == 0 || host > HOST_MAX)
        return refuse(why, url, text, "a host is empty or too long");
    for (size_t i = 0; i < host; i++)
        if (!is_of_host(text[i]))
            return refuse(why, url, text + i, "a host has a byte that no name of a host has");
    if (!dlock_number_read(port, port_len, 1, PORT_MAX, &number))
        return refuse(why, url, port, "a port is no number from 1 to 65535");
    snprintf(out, ETCD_MEMBER_SIZE, "%s%.*s:%d", scheme, (int)host, text, (int)number);
    return true;
}

/* The user and the password before the last '@'.  Answers where the members begin. */
static const char *read_user(const char *url, const char *text, struct etcd_address *out,
                             char why[ETCD_WHY_SIZE])
{
    const char *at = strrchr(text, '@');
    const char *colon = at != NULL ? memchr(text, ':', (size_t)(at - text)) : NULL;

    out->user[0] = out->password[0] = '\0';
    if (at == NULL)
        return text;
    if (colon == NULL || colon == text || colon - text >= ETCD_SECRET_SIZE ||
        at - colon > ETCD_SECRET_SIZE) {
        (void)refuse(why, url, text, "what stands before the @ is not user:password");
        return NULL;
    }
    snprintf(out->user, sizeof(out->user), "%.*s", (int)(colon - text), text);
    snprintf(out->password, sizeof(out->password), "%.*s", (int)(at - colon - 1), colon + 1);
    return at + 1;
}

bool etcd_address_read(const char *url, struct etcd_address *out, char why[ETCD_WHY_SIZE])
{
    static const char *const SCHEMES[] = {"http://", "https://"};
    const char *scheme = NULL;
    const char *text;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; url != NULL && i < sizeof(SCHEMES) / sizeof(SCHEMES[0]); i++)
        if (strncmp(url, SCHEMES[i], strlen(SCHEMES[i])) == 0)
            scheme = SCHEMES[i];
    if (scheme == NULL)
        return refuse(why, url, url, "it does not begin with http:// or https://");
    text = read_user(url, url + strlen(scheme), out, why);
    while (text != NULL) {
        size_t len = strcspn(text, ",");

        if (out->member_count == ETCD_MEMBERS_MAX)
            return refuse(why, url, text, "it names too many members");
        if (!read_member(url, scheme, text, len, out->members[out->member_count], why))
            return false;
        out->member_count++;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
    return false;
}
