/* SPDX-License-Identifier: MIT */
/* etcd_address.h -- where an etcd is: the URL of the option etcd_url, taken apart.
 *
 *     http://[user:password@]host:port[,host:port...]
 *
 * or https://.  The hosts are members of one etcd.  A port that is left out is 2379.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_ADDRESS_H
#define DLOCK_ETCD_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ETCD_MEMBERS_MAX = 9,
    ETCD_MEMBER_SIZE = 280, /* "https://", a host of 255 bytes, ":", a port, a NUL */
    ETCD_SECRET_SIZE = 128,
    ETCD_WHY_SIZE = 160,
};

struct etcd_address {
    int member_count; /* at least 1 */
    char members[ETCD_MEMBERS_MAX][ETCD_MEMBER_SIZE]; /* "http://host:port" */
    char user[ETCD_SECRET_SIZE];                      /* "": none           */
    char password[ETCD_SECRET_SIZE];
};

/* Take `url` apart.  False: it is no such URL, and `why` says what is wrong with it,
 * without the password; *out is then not to be used. */
bool etcd_address_read(const char *url, struct etcd_address *out, char why[ETCD_WHY_SIZE]);

#endif /* DLOCK_ETCD_ADDRESS_H */
