/* SPDX-License-Identifier: MIT */
/* wire_text.h -- a message on a wire as a line of text: Redis, PostgreSQL, ZooKeeper,
 * and etcd by HTTP. */
#ifndef LOADTEST_PROXY_WIRE_TEXT_H
#define LOADTEST_PROXY_WIRE_TEXT_H

#include "loadtest/proxy/proxy.h"

/* Write a message as one line of text, without passwords.  False: the message is not shown, such
 * as a ping or a handshake. */
bool wire_text(const struct proxy_glimpse *glimpse, enum proxy_protocol protocol,
               char *out, size_t size);

#endif /* LOADTEST_PROXY_WIRE_TEXT_H */
