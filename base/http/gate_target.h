/* SPDX-License-Identifier: MIT */
/* gate_target.h -- checks and splits the target of a request line, and checks a
 * Host. */
#ifndef BASE_GATE_TARGET_H
#define BASE_GATE_TARGET_H

#include <stdbool.h>

#include "base/http/gate_request.h"

/* Is `text` valid in a Host header: a name, an IPv4 address or an IPv6 address in
 * brackets, and perhaps a colon and a port from 1 to 65535? */
bool gate_is_host(const char *text);

/* Decode the value of a part of a query: escapes, and '+' as a space.  False: an escape
 * is malformed, the value has a control character, or the value does not fit into
 * `size` bytes; `out` is then undefined. */
bool gate_unescape(const char *value, size_t len, char *out, size_t size);

/* Split a target, which must be a path with or without a query, perhaps behind http:// and
 * a host.  Changes `target` in place, and the texts of `out` lie in it.
 *   NULL     done: out->uri and out->query are set; *authority is the host with its port
 *            if there was one, else NULL
 *   else     refused: *status is the HTTP status of the answer, and the text says what
 *            is accepted; out->uri is set if a path was found */
const char *gate_split_target(char *target, const char **authority,
                              struct gate_request *out, int *status);

#endif /* BASE_GATE_TARGET_H */
