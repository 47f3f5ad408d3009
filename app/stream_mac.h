/* SPDX-License-Identifier: MIT */
/* stream_mac.h -- the MAC of an entry of the stream, HMAC-SHA256: a service with the keys of
 * the tokens made the entry, and nobody has changed it since.
 *
 * Threads     Any.
 */
#ifndef APP_STREAM_MAC_H
#define APP_STREAM_MAC_H

#include "base/http/token.h"

enum { STREAM_MAC_LEN = 2 * TOKEN_KEY_BYTES }; /* hex digits, without the NUL */

/* Derive the key of the stream of that name: the MAC of "seckilld stream NAME" by the key of
 * the tokens.  False: no memory. */
bool stream_mac_derive(const struct token_key *token, const char *name, struct token_key *out);

/* Write the MAC of `len` bytes.  False: no memory. */
bool stream_mac_write(const struct token_key *key, const char *text, size_t len,
                      char out[STREAM_MAC_LEN + 1]);

#endif /* APP_STREAM_MAC_H */
