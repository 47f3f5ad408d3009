/* SPDX-License-Identifier: MIT */
/* etcd_address.c -- parses the option etcd_url. */
#include "lock/stores/etcd_address.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

enum { HOST_MAX = ETCD_HOST_SIZE - 1, PORT_MAX = 65535 };

#define HTTP "http://"
#define HTTPS "https://"
#define DEFAULT_PORT "2379"
#define FORM                                                                           \
    "http://[user:password@]host[:port][,host[:port]...], or https:// with "           \
    "?ca=FILE&cert=FILE&key=FILE&server-name=NAME behind the hosts"

/* Write into `why` that `url` is malformed at `at`.  Returns false. */
static bool refuse(char why[ETCD_WHY_SIZE], const char *url, const char *at, const char *text)
{
    snprintf(why, ETCD_WHY_SIZE, "at character %td: %s; it has to be " FORM, at - url + 1, text);
    return false;
}

/* Copy text[0..len), decoding %xx.  False: the text is empty or too long, or a % is not
 * followed by two digits. */
static bool decode(const char *text, size_t len, char *out, size_t size)
{
    size_t used = 0;

    for (const char *end = text + len; text < end;) {
        int byte = dlock_number_byte(&text, end);

        if (byte <= 0 || used + 1 >= size)
            return false;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return used > 0;
}

/* May the byte be part of a host name, an IPv4 address or [::1]? */
static bool is_of_host(char c)
{
    return c != '\0' && (isalnum((unsigned char)c) || strchr(".-_:[]", c) != NULL);
}

/* The length of the host in the `len` bytes at `text`, which is the part before the
 * port. */
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

/* Read the members in text[0..len). */
static bool read_members(const char *url, const char *scheme, const char *text, size_t len,
                         struct etcd_address *out, char why[ETCD_WHY_SIZE])
{
    const char *end = text + len;

    for (;;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t member_len = (size_t)((comma != NULL ? comma : end) - text);

        if (out->member_count == ETCD_MEMBERS_MAX)
            return refuse(why, url, text, "it names too many members");
        if (!read_member(url, scheme, text, member_len, out->members[out->member_count],
                         why))
            return false;
        out->member_count++;
        if (comma == NULL)
            return true;
        text = comma + 1;
    }
}

/* Read the user and the password in text[0..len), which is the part before the last
 * '@'. */
static bool read_user(const char *url, const char *text, size_t len,
                      struct etcd_address *out, char why[ETCD_WHY_SIZE])
{
    const char *colon = memchr(text, ':', len);

    if (colon == NULL ||
        !decode(text, (size_t)(colon - text), out->user, sizeof(out->user)) ||
        !decode(colon + 1, len - (size_t)(colon + 1 - text), out->password,
                sizeof(out->password)))
        return refuse(why, url, text, "what stands before the @ is not user:password, with "
                                      "%25 for a % and %3F for a ?");
    return true;
}

/* Read one option, name=value. */
static bool read_option(const char *url, const char *text, size_t len,
                        struct etcd_tls *out, char why[ETCD_WHY_SIZE])
{
    const struct {
        const char *name;
        char *value;
        size_t size;
    } options[] = {
        {"ca=", out->ca_file, sizeof(out->ca_file)},
        {"cert=", out->cert_file, sizeof(out->cert_file)},
        {"key=", out->key_file, sizeof(out->key_file)},
        {"server-name=", out->server_name, sizeof(out->server_name)},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        size_t name_len = strlen(options[i].name);

        if (len >= name_len && memcmp(text, options[i].name, name_len) == 0)
            return decode(text + name_len, len - name_len, options[i].value, options[i].size) ||
                   refuse(why, url, text, "the value of the option is empty or too long, or "
                                          "has a % without two hex digits");
    }
    return refuse(why, url, text, "an option behind the ? is unknown");
}

/* Read the options at the end of a URL, which begin with '?'; "": there are none. */
static bool read_options(const char *url, const char *query, struct etcd_tls *out,
                         char why[ETCD_WHY_SIZE])
{
    const char *begin = query;

    while (*query != '\0') {
        size_t len = strcspn(query + 1, "&");

        if (!read_option(url, query + 1, len, out, why))
            return false;
        query += 1 + len;
    }
    if ((out->cert_file[0] == '\0') != (out->key_file[0] == '\0'))
        return refuse(why, url, begin, "cert= and key= need each other");
    for (const char *c = out->server_name; *c != '\0'; c++)
        if (!is_of_host(*c) || *c == ':')
            return refuse(why, url, begin, "server-name= has a byte that no name of a host has");
    return true;
}

/* The last '@' in text[0..len); NULL: there is none. */
static const char *find_at(const char *text, size_t len)
{
    while (len > 0 && text[len - 1] != '@')
        len--;
    return len > 0 ? text + len - 1 : NULL;
}

bool etcd_address_read(const char *url, struct etcd_address *out, char why[ETCD_WHY_SIZE])
{
    bool is_encrypted = url != NULL && strncmp(url, HTTPS, strlen(HTTPS)) == 0;
    const char *scheme = is_encrypted ? HTTPS : HTTP;
    const char *text, *query, *at;

    memset(out, 0, sizeof(*out));
    if (url == NULL || strncmp(url, scheme, strlen(scheme)) != 0)
        return refuse(why, url, url, "it does not begin with http:// or https://");
    text = url + strlen(scheme);
    query = text + strcspn(text, "?");
    if (*query != '\0' && !is_encrypted)
        return refuse(why, url, query, "options behind a ? need https://");
    at = find_at(text, (size_t)(query - text));
    if (at != NULL && !read_user(url, text, (size_t)(at - text), out, why))
        return false;
    text = at != NULL ? at + 1 : text;
    return read_members(url, scheme, text, (size_t)(query - text), out, why) &&
           read_options(url, query, &out->tls, why);
}
