/* SPDX-License-Identifier: MIT */
/* target.c -- sockets that do not block, over TCP and in the file system. */
#include "loadtest/proxy/target.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os/number.h"
#include "loadtest/proxy/script.h"

enum { BACKLOG = 512, HOST_MAX = 255 };

static bool refuse(char *why, const char *target, const char *reason)
{
    snprintf(why, PROXY_WHY_MAX, "target \"%s\": %s", target, reason);
    return false;
}

static bool find_unix(struct proxy_target *out, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strcpy(address.sun_path, path);
    memcpy(&out->address, &address, sizeof address);
    out->size = sizeof address;
    return true;
}

/* The path of a target "unix:PATH"; NULL: `text` is a target HOST:PORT. */
static const char *unix_path(const char *text)
{
    return strncmp(text, "unix:", 5) == 0 ? text + 5 : NULL;
}

/* Take "HOST:PORT" apart; the brackets of an IPv6 address are taken off. */
static bool take_apart(const char *text, char host[HOST_MAX + 1], int64_t *port, char *why)
{
    const char *colon = strrchr(text, ':'), *from = text, *to = colon;

    if (colon == NULL)
        return refuse(why, text, "expected HOST:PORT or unix:PATH");
    if (*text == '[' && to > text + 1 && to[-1] == ']') {
        from++;
        to--;
    } else if (memchr(text, ':', (size_t)(colon - text)) != NULL) {
        return refuse(why, text, "expected HOST:PORT, with an IPv6 address in brackets, such as "
                                 "[::1]:6379");
    }
    if (to == from || to - from > HOST_MAX || strcspn(from, "[]") < (size_t)(to - from))
        return refuse(why, text, "expected HOST:PORT or unix:PATH");
    /* getaddrinfo() would take the lower 16 bits of a greater number. */
    if (!dlock_number_read(colon + 1, strlen(colon + 1), 1, UINT16_MAX, port))
        return refuse(why, text, "expected a port from 1 to 65535 behind the last colon");
    snprintf(host, HOST_MAX + 1, "%.*s", (int)(to - from), from);
    return true;
}

bool proxy_target_check(const char *text, char *why)
{
    const struct sockaddr_un *limits = NULL;
    const char *path = unix_path(text);
    char host[HOST_MAX + 1];
    int64_t port;

    if (path == NULL)
        return take_apart(text, host, &port, why);
    if (*path == '\0' || strlen(path) >= sizeof limits->sun_path)
        return refuse(why, text, "the path is empty or too long");
    return true;
}

bool proxy_target_find(struct proxy_target *out, const char *text, char *why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char host[HOST_MAX + 1], service[8];
    int64_t port;
    int rc;

    if (!proxy_target_check(text, why))
        return false;
    if (unix_path(text))
        return find_unix(out, unix_path(text));
    if (!take_apart(text, host, &port, why))
        return false;
    snprintf(service, sizeof service, "%d", (int)port);
    rc = getaddrinfo(host, service, &hints, &found);
    if (rc != 0)
        return refuse(why, text, gai_strerror(rc));
    memcpy(&out->address, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

void proxy_target_local(struct proxy_target *out, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    memcpy(&out->address, &address, sizeof address);
    out->size = sizeof address;
}

int proxy_target_connect(const struct proxy_target *target, bool *is_connecting)
{
    int family = target->address.ss_family, yes = 1;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    *is_connecting = false;
    if (connect(fd, (const struct sockaddr *)&target->address, target->size) == 0)
        return fd;
    *is_connecting = errno == EINPROGRESS;
    if (*is_connecting)
        return fd;
    close(fd);
    return -1;
}

int proxy_target_listen(int *port)
{
    struct proxy_target local;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    proxy_target_local(&local, *port);
    if (bind(fd, (struct sockaddr *)&local.address, local.size) == 0 && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    yes = errno;
    close(fd);
    errno = yes;
    return -1;
}
