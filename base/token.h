/* SPDX-License-Identifier: MIT */
/* token.h -- who a request comes from, proved without a table of logins.
 *
 * A token is 16 hex digits of the user's number followed by 32 hex digits: the first
 * half of HMAC-SHA256 over those digits, under a key that the service and the
 * laboratory share.
 *
 * Threads     Any; a key is read-only once it is loaded.
 */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TOKEN_KEY_BYTES = 32,
    TOKEN_LEN = 48, /* digits, without the NUL */
};

struct token_key {
    unsigned char bytes[TOKEN_KEY_BYTES];
};

/* Make a new random key in a file that only its owner may read.  A file that is there
 * already is left as it is.  False: errno says why there is none. */
bool token_key_make(const char *path);

/* Read a key from a file that holds 64 hex digits and perhaps a newline.  False: the
 * file cannot be read, anybody but its owner may, or it holds something else; errno
 * says which (EACCES for the mode, EINVAL for the contents). */
bool token_key_load(const char *path, struct token_key *out);

/* Write the token of `user_id`, which must be positive. */
void token_make(const struct token_key *key, int64_t user_id, char out[TOKEN_LEN + 1]);

/* Is this a token of ours?  True: *user_id is whose.  Takes the same time whichever
 * digit is wrong. */
bool token_verify(const struct token_key *key, const char *token, int64_t *user_id);

#endif /* BASE_TOKEN_H */
