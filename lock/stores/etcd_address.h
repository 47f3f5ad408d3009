/* SPDX-License-Identifier: MIT */
/* etcd_address.h -- where an etcd is: the URL of the option etcd_url, taken apart.
 *
 *     http://[user:password@]host[:port][,host[:port]...]
 *     https://[user:password@]host[:port][,host[:port]...]
 *             [?ca=FILE&cert=FILE&key=FILE&server-name=NAME]
 *
 * The hosts are members of one etcd.  A port that is left out is 2379.  %xx may stand in the
 * user, the password and the options.
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
    ETCD_FILE_SIZE = 256,
    ETCD_HOST_SIZE = 256,
    ETCD_WHY_SIZE = 320,
};

/* The certificates of a connection; every field is "" if the URL does not set it. */
struct etcd_tls {
    char ca_file[ETCD_FILE_SIZE];     /* "": the authorities that the system trusts     */
    char cert_file[ETCD_FILE_SIZE];   /* "": no certificate of this client              */
    char key_file[ETCD_FILE_SIZE];
    char server_name[ETCD_HOST_SIZE]; /* in certificates; "": the host that is asked    */
};

struct etcd_address {
    int member_count; /* at least 1 */
    char members[ETCD_MEMBERS_MAX][ETCD_MEMBER_SIZE]; /* "http://host:port" */
    char user[ETCD_SECRET_SIZE];                      /* "": none           */
    char password[ETCD_SECRET_SIZE];
    struct etcd_tls tls;
};

/* Parse `url` into *out.  False: `url` is malformed, and `why` says what is wrong,
 * without the password; *out is then undefined. */
bool etcd_address_read(const char *url, struct etcd_address *out, char why[ETCD_WHY_SIZE]);

#endif /* DLOCK_ETCD_ADDRESS_H */
