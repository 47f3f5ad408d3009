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

#include "loadtest/proxy/script.h"

enum { BACKLOG = 512 };

static bool refuse(char *why, const char *target, const char *reason)
{
    snprintf(why, PROXY_WHY_MAX, "target \"%s\": %s", target, reason);
    return false;
}

static bool find_unix(struct proxy_target *out, const char *text, char *why)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = text + strlen("unix:");

    if (*path == '\0' || strlen(path) >= sizeof address.sun_path)
        return refuse(why, text, "the path is empty or too long");
    strcpy(address.sun_path, path);
    memcpy(&out->address, &address, sizeof address);
    out->size = sizeof address;
    return true;
}

bool proxy_target_find(struct proxy_target *out, const char *text, char *why)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    const char *colon = strrchr(text, ':');
    char host[256];
    int rc;

    if (strncmp(text, "unix:", 5) == 0)
        return find_unix(out, text, why);
    if (colon == NULL || colon == text || colon[1] == '\0' ||
        (size_t)(colon - text) >= sizeof host)
        return refuse(why, text, "expected HOST:PORT or unix:PATH");
    snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
    rc = getaddrinfo(host, colon + 1, &hints, &found);
    if (rc != 0)
        return refuse(why, text, gai_strerror(rc));
    memcpy(&out->address, found->ai_addr, found->ai_addrlen);
    out->size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
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
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)*port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    yes = errno;
    close(fd);
    errno = yes;
    return -1;
}
