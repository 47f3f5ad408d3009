/* SPDX-License-Identifier: MIT */
/* zookeeper_path.h -- names of locks as nodes of ZooKeeper, and the URL of the servers.
 *
 * Letters, digits, '_', '-', ':' and '.' are written as they are, except a '.' at the
 * beginning; every other byte is written as %XX. So no two names have the same node,
 * and no name leads out of its directory.
 */
#ifndef DLOCK_ZOOKEEPER_PATH_H
#define DLOCK_ZOOKEEPER_PATH_H

#include "lock/dlock_variant.h"

#define ZOOKEEPER_ROOT "/dlock"

enum {
    /* Root, kind of lock, encoded name, node. */
    ZOOKEEPER_PATH_SIZE = 48 + 3 * DLOCK_NAME_MAX + 64,
};

/* ROOT/KIND/NAME */
void zookeeper_path_of(char out[ZOOKEEPER_PATH_SIZE], const char *kind,
                       const char *name);

/* DIR/NODE */
void zookeeper_path_join(char out[ZOOKEEPER_PATH_SIZE], const char *dir,
                         const char *node);

/* The number behind the name of a place, `c-TOKEN-NUMBER`, which tells the order of places.
 * The server's numbers have 32 bits, and go from 0 through the negative numbers to -1;
 * *number is from 0 to 2^32-1.  The server writes a number with zeros before it and ten
 * characters long, its minus included.  False: the node is no place. */
bool zookeeper_place_number(const char *node, uint32_t *number);

/* "host:port[,host:port...][/chroot]"?  INVALID with the reason, or OK. */
dlock_status zookeeper_url_check(const char *url);

#endif /* DLOCK_ZOOKEEPER_PATH_H */
