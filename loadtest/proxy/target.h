/* SPDX-License-Identifier: MIT */
/* target.h -- the server behind a proxy, and the port before it. */
#ifndef LOADTEST_PROXY_TARGET_H
#define LOADTEST_PROXY_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct proxy_target {
    struct sockaddr_storage address;
    socklen_t size;
};

/* Is the text "HOST:PORT", "[IPV6]:PORT" or "unix:PATH", with a port from 1 to 65535?  False: why
 * (PROXY_WHY_MAX bytes) says what is wrong.  No name is looked up. */
bool proxy_target_check(const char *text, char *why);

/* The address of such a text.  False: the form is wrong or the host is not known, and why
 * (PROXY_WHY_MAX bytes) says the reason. */
bool proxy_target_find(struct proxy_target *out, const char *text, char *why);

/* The address of a port of 127.0.0.1. */
void proxy_target_local(struct proxy_target *out, int port);

/* Begin to connect; the socket does not block.  -1: it cannot be reached. */
int proxy_target_connect(const struct proxy_target *target, bool *is_connecting);

/* Listen on 127.0.0.1; *port 0 is made a free one.  -1 and errno: not possible. */
int proxy_target_listen(int *port);

#endif /* LOADTEST_PROXY_TARGET_H */
