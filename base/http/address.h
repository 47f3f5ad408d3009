/* SPDX-License-Identifier: MIT */
/* address.h -- where a listener listens, as a setting says it. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>

/* Split HOST:PORT, where HOST is an IPv4 address.  False: it is not one; `host` has room
 * for 64 bytes. */
bool address_parse(const char *text, char *host, int *port);

#endif /* BASE_ADDRESS_H */
