/* SPDX-License-Identifier: MIT */
/* address.c -- parses the address of a listener. */
#include "base/http/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool address_parse(const char *text, char *host, int *port)
{
    const char *colon = strrchr(text, ':');
    struct in_addr address;
    char *end = NULL;
    long n = 0;

    if (colon == NULL || colon == text || colon - text > 63 || colon[1] < '0' ||
        colon[1] > '9')
        return false;
    n = strtol(colon + 1, &end, 10);
    if (*end != '\0' || n > 65535)
        return false;
    (void)snprintf(host, 64, "%.*s", (int)(colon - text), text);
    *port = (int)n;
    /* civetweb also accepts lists and other forms, and would read a mistyped address as
     * one of those. */
    return inet_pton(AF_INET, host, &address) == 1;
}
