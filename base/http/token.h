/* SPDX-License-Identifier: MIT */
/* token.h -- tokens that prove the user of a request, without a table of logins.
 *
 * A token is 72 lower-case hex digits:
 *
 *     digits  what
 *      2      the form of the token: 02
 *      2      the role: 01 buyer, 02 operator
 *      4      the number of the key that it was made with
 *     16      the user's number, 1 to 2^63 - 1
 *     16      when it expires, in seconds since 1970: it is valid before that instant
 *     32      the first half of HMAC-SHA256 over the 40 digits before
 *
 * The form before this one, 48 digits without role and expiry, is refused by name.
 *
 * A key file has one key per line, "id:" and 64 hex digits, with an id from 0 to 65535.
 * The first key makes new tokens, and every key verifies tokens.  So a key can be
 * changed without an outage.  First add the new key as the last line and restart every
 * service.  Then move the new key to the first line and make new tokens.  Remove the
 * old line when the last token of the old key has expired.  A file with 64 hex digits
 * alone holds key 0.
 *
 * Tokens have two limits.  If the clock is set back, expired tokens are valid again
 * until the clock has caught up.  A token cannot be revoked before it expires, except
 * by removing its key.
 *
 * Threads     Any; keys are read-only once they are loaded.
 */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TOKEN_KEY_BYTES = 32,
    TOKEN_LEN = 72, /* digits, without the NUL */
    TOKEN_KEYS_MAX = 16,
    TOKEN_KEY_ID_MAX = 65535,
    TOKEN_WHY_MAX = 256,
};

struct token_key {
    unsigned id;
    unsigned char bytes[TOKEN_KEY_BYTES];
};

/* After loading, `count` is at least 1; the first key makes new tokens. */
struct token_keys {
    struct token_key at[TOKEN_KEYS_MAX];
    size_t count;
};

enum token_role { TOKEN_BUYER = 1, TOKEN_OPERATOR = 2 };

/* The claim that a token makes. */
struct token_claim {
    int64_t user_id;
    int64_t expires_s; /* since 1970; the token is good before this instant */
    enum token_role role;
};

enum token_verdict {
    TOKEN_GOOD,
    TOKEN_MALFORMED,   /* not 72 lower-case hex digits, or not of this form */
    TOKEN_OLD_FORM,    /* 48 hex digits, as tokens were before they expired */
    TOKEN_UNKNOWN_KEY, /* no key of this number is loaded */
    TOKEN_FORGED,      /* its HMAC is wrong, or there was no memory to compute it */
    TOKEN_EXPIRED,     /* its HMAC is right, and it has expired */
};

/* Make a key file with mode 0600 and one random key.  An existing file is not changed,
 * and the answer is true.  False: the file could not be made, and errno says why. */
bool token_keys_make(const char *path);

/* Read a key file.  The file must belong to `owner` or to root and be readable by its owner
 * only.  A file with a key of zeros, with two keys of one number, or without a key is
 * refused.  False: `why` (TOKEN_WHY_MAX bytes) says what is wrong, with the number of the
 * line if the mistake is in a line, in words that fit after "cannot use FILE: "; *out is
 * then undefined. */
bool token_keys_load(const char *path, uid_t owner, struct token_keys *out, char *why);

/* Write a token with the first key.  The claim is not checked, even if token_verify()
 * would refuse it. */
void token_make(const struct token_keys *keys, const struct token_claim *claim,
                char out[TOKEN_LEN + 1]);

/* Verify a token at the instant `now_s`.  *claim is written with GOOD and EXPIRED only.
 * EXPIRED implies that the HMAC is right.  The time of the comparison does not depend
 * on which digit is wrong. */
enum token_verdict token_verify(const struct token_keys *keys, const char *token,
                                int64_t now_s, struct token_claim *claim);

/* Compute the HMAC-SHA256 of a text.  False: no memory. */
bool token_mac(const struct token_key *key, const char *text, size_t len,
               unsigned char mac[TOKEN_KEY_BYTES]);

/* A verdict as a sentence for the client; NULL for GOOD. */
const char *token_verdict_text(enum token_verdict verdict);

/* The wall clock in whole seconds since 1970. */
int64_t token_now_s(void);

#endif /* BASE_TOKEN_H */
