/* SPDX-License-Identifier: MIT */
/* admin_access.c -- decides which requests the listener for operators answers. */
#include "base/http/admin_access.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/http/address.h"
#include "base/http/secret.h"
#include "base/text/log.h"

enum exit_code admin_access_open(struct admin_access *a,
                                 const struct admin_access_settings *settings,
                                 uid_t owner)
{
    char why[SECRET_WHY_MAX];
    int port = 0;

    *a = (struct admin_access){.hosts = settings->hosts};
    (void)address_parse(settings->listen, a->own_host, &port);
    if (!admin_token_make(settings->token_path)) {
        log_error("cannot write --admin-token-file=%s: %s; `seckill seed` makes it where "
                  "the service may only read",
                  settings->token_path, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    if (admin_token_read(settings->token_path, owner, a->token, why))
        return EXIT_VALID;
    log_error("cannot use --admin-token-file=%s: %s", settings->token_path, why);
    return EXIT_USAGE;
}

/* The length of a Host without its port. */
static size_t host_length(const char *host)
{
    const char *end = host[0] == '[' ? strchr(host, ']') : NULL;

    return end != NULL ? (size_t)(end - host) + 1 : strcspn(host, ":");
}

static bool is_named(const char *host, size_t len, const char *name, size_t name_len)
{
    return len == name_len && strncasecmp(host, name, len) == 0;
}

bool admin_host_is_loopback(const char *host, size_t len)
{
    char text[INET_ADDRSTRLEN];
    struct in_addr address;

    if (is_named(host, len, "localhost", 9) || is_named(host, len, "[::1]", 5))
        return true;
    if (len >= sizeof(text))
        return false;
    (void)snprintf(text, sizeof(text), "%.*s", (int)len, host);
    return inet_pton(AF_INET, text, &address) == 1 &&
           ntohl(address.s_addr) >> 24 == 127;
}

static bool is_listed(const char *hosts, const char *host, size_t len)
{
    while (hosts != NULL && *hosts != '\0') {
        size_t n = strcspn(hosts, ",");

        if ((n == 1 && hosts[0] == '*') || is_named(host, len, hosts, n))
            return true;
        hosts += n + (hosts[n] == ',');
    }
    return false;
}

static bool is_own_host(const struct admin_access *a, const char *host)
{
    size_t len = host != NULL ? host_length(host) : 0;

    if (len == 0 || a->are_all_hosts)
        return len > 0 && is_listed(a->hosts, host, len);
    return admin_host_is_loopback(host, len) ||
           is_named(host, len, a->own_host, strlen(a->own_host)) ||
           is_listed(a->hosts, host, len);
}

/* Does the Origin name the request's Host?  The Host was checked before, so such a page
 * came from this listener. */
static bool is_own_origin(const struct admin_origin *from)
{
    static const char SCHEME[] = "http://";

    if (from->fetch_site != NULL && strcmp(from->fetch_site, "same-origin") != 0 &&
        strcmp(from->fetch_site, "none") != 0)
        return false;
    return from->origin == NULL ||
           (strncasecmp(from->origin, SCHEME, strlen(SCHEME)) == 0 &&
            strcasecmp(from->origin + strlen(SCHEME), from->host) == 0);
}

enum admin_verdict admin_access_check(const struct admin_access *a,
                                      const struct admin_origin *from,
                                      const char *token)
{
    if (!is_own_host(a, from->host))
        return ADMIN_FOREIGN_HOST;
    if (!is_own_origin(from))
        return ADMIN_FOREIGN_ORIGIN;
    if (token == NULL)
        return ADMIN_NO_TOKEN;
    return secret_equals(a->token, token) ? ADMIN_ALLOWED : ADMIN_WRONG_TOKEN;
}

const char *admin_verdict_text(enum admin_verdict verdict)
{
    switch (verdict) {
    case ADMIN_ALLOWED:
        break;
    case ADMIN_FOREIGN_HOST:
        return "the Host is no name of this listener; --admin-host=NAME,... adds names";
    case ADMIN_FOREIGN_ORIGIN:
        return "requests from pages of other sites are refused";
    case ADMIN_NO_TOKEN:
        return "the header Authorization: Bearer with the admin token is missing; the "
               "token is in the file that the line `ready` names";
    case ADMIN_WRONG_TOKEN:
        return "this is not the admin token; it is in the file that the line `ready` "
               "names";
    }
    return NULL;
}

bool admin_hosts_are_good(const char *hosts)
{
    if (strcmp(hosts, "*") == 0)
        return true;
    for (;; hosts++) {
        size_t n = strcspn(hosts, ",");
        size_t good = strspn(hosts, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789_.-");

        if (hosts[0] == '[') { /* an IPv6 address */
            good = 1 + strspn(hosts + 1, "0123456789abcdefABCDEF:.");
            good = hosts[good] == ']' ? good + 1 : 0;
        }
        if (n == 0 || good != n)
            return false;
        hosts += n;
        if (*hosts == '\0')
            return true;
    }
}
