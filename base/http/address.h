/* SPDX-License-Identifier: MIT */
/* address.h -- parses the address of a listener. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>

/* Split HOST:PORT, where HOST is an IPv4 address, into `host`, which has room for 64
 * bytes, and *port.  False: `text` has another form.  Any thread. */
bool address_parse(const char *text, char *host, int *port);

#endif /* BASE_ADDRESS_H */
