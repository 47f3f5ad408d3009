/* SPDX-License-Identifier: MIT */
/* zookeeper_path.c -- names of locks as nodes of ZooKeeper, and the URL. */
#include "lock/stores/zookeeper_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool stands_for_itself(unsigned char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == ':' || (c == '.' && !is_first);
}

void zookeeper_path_of(char out[ZOOKEEPER_PATH_SIZE], const char *kind,
                       const char *name)
{
    int used = snprintf(out, ZOOKEEPER_PATH_SIZE, ZOOKEEPER_ROOT "/%s/", kind);

    for (const char *p = name; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        used += snprintf(out + used, ZOOKEEPER_PATH_SIZE - (size_t)used,
                         stands_for_itself(c, p == name) ? "%c" : "%%%02X", c);
    }
}

void zookeeper_path_join(char out[ZOOKEEPER_PATH_SIZE], const char *dir,
                         const char *node)
{
    size_t dir_len = strlen(dir);
    size_t node_len = strlen(node);

    if (dir_len + node_len + 2 > ZOOKEEPER_PATH_SIZE)
        node_len = ZOOKEEPER_PATH_SIZE - 2 - dir_len; /* cannot be: see the sizes */
    memcpy(out, dir, dir_len);
    out[dir_len] = '/';
    memcpy(out + dir_len + 1, node, node_len);
    out[dir_len + 1 + node_len] = '\0';
}

bool zookeeper_place_number(const char *node, uint32_t *number)
{
    enum { DIGITS_AT = 2 + DLOCK_TOKEN_LEN + 1 };
    char written[16];
    long long value;

    if (strncmp(node, "c-", 2) != 0 ||
        strspn(node + 2, "0123456789abcdef") != DLOCK_TOKEN_LEN ||
        node[DIGITS_AT - 1] != '-')
        return false;
    value = strtoll(node + DIGITS_AT, NULL, 10);
    if (value < INT32_MIN || value > INT32_MAX)
        return false;
    snprintf(written, sizeof(written), "%010lld", value);
    if (strcmp(written, node + DIGITS_AT) != 0)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* "host:port", `len` bytes of it. */
static bool is_host(const char *text, size_t len)
{
    const char *colon = memrchr(text, ':', len);
    char *end = NULL;
    long port;

    if (colon == NULL || colon == text || colon + 1 == text + len)
        return false;
    if (strspn(colon + 1, "0123456789") != (size_t)(text + len - colon - 1))
        return false;
    port = strtol(colon + 1, &end, 10);
    return end == text + len && port > 0 && port < 65536 &&
           strcspn(text, " \t@") >= len;
}

/* ZooKeeper has no login, and an @ may stand behind one: then this is a part of a password. */
static bool is_chroot(const char *path)
{
    return *path == '\0' || (path[1] != '\0' && path[strlen(path) - 1] != '/' &&
                             strstr(path, "//") == NULL && strchr(path, '@') == NULL);
}

#define FORM "host:port[,host:port...][/chroot]"

dlock_status zookeeper_url_check(const char *url)
{
    const char *rest = url;
    size_t len;

    if (url == NULL || url[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "this lock needs the URL of a ZooKeeper");
    do {
        len = strcspn(rest, ",/");
        if (!is_host(rest, len))
            return dlock_fail(DLOCK_INVALID, "the URL of ZooKeeper, at character %td: no "
                              "host:port begins there; it has to be " FORM, rest - url + 1);
        rest += len;
    } while (*rest == ',' && *++rest != '\0');
    if (rest[-1] == ',' || !is_chroot(rest))
        return dlock_fail(DLOCK_INVALID, "the URL of ZooKeeper, at character %td: no "
                          "path of a node begins there; it has to be " FORM, rest - url + 1);
    return DLOCK_OK;
}
