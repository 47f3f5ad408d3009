/* SPDX-License-Identifier: MIT */
/* token.c -- makes and verifies tokens. */
#include "base/http/token.h"

#include <inttypes.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http/secret.h"
#include "base/os/clock.h"
#include "base/os/once.h"
#include "base/os/thread.h"

enum {
    FORM = 2,
    OLD_LEN = 48,
    CLAIM_DIGITS = 40,
    MAC_BYTES = (TOKEN_LEN - CLAIM_DIGITS) / 2,
    KEY_DIGITS = 2 * TOKEN_KEY_BYTES,
    LINE_MAX_CHARS = KEY_DIGITS + 6, /* "65535:" before the digits */
    FILE_MAX_BYTES = TOKEN_KEYS_MAX * (LINE_MAX_CHARS + 1) + 1024,
};

/* The value of a lower-case hex digit; -1 for anything else. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, unsigned char *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = digit_value(text[2 * i]);
        int low = high < 0 ? -1 : digit_value(text[2 * i + 1]);

        if (low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool token_keys_make(const char *path)
{
    char line[KEY_DIGITS + 4] = "1:";
    bool is_made;

    secret_random_hex(line + 2, TOKEN_KEY_BYTES);
    (void)strcat(line, "\n");
    is_made = secret_make(path, line);
    OPENSSL_cleanse(line, sizeof(line));
    return is_made;
}

static bool refuse(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(char *why, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(why, TOKEN_WHY_MAX, fmt, args);
    va_end(args);
    return false;
}

/* Read the number before the colon.  False: there is none, or it is out of range. */
static bool read_id(const char *text, size_t len, unsigned *id)
{
    unsigned value = 0;

    if (len < 1 || len > 5 || (len > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    *id = value;
    return value <= TOKEN_KEY_ID_MAX;
}

static bool is_zero(const struct token_key *key)
{
    static const unsigned char ZERO[TOKEN_KEY_BYTES];

    return CRYPTO_memcmp(key->bytes, ZERO, sizeof(ZERO)) == 0;
}

/* Add the key of a line of `len` characters. */
static bool add_key(struct token_keys *keys, const char *line, size_t len, int number,
                    char *why)
{
    struct token_key key = {0};
    const char *colon = memchr(line, ':', len);
    const char *digits = colon != NULL ? colon + 1 : line;

    if (keys->count == TOKEN_KEYS_MAX)
        return refuse(why, "line %d: there are more than %d keys", number,
                      TOKEN_KEYS_MAX);
    if (colon != NULL && !read_id(line, (size_t)(colon - line), &key.id))
        return refuse(why, "line %d: the key's id must be a number from 0 to %d", number,
                      TOKEN_KEY_ID_MAX);
    if (len - (size_t)(digits - line) != KEY_DIGITS ||
        !read_hex(digits, key.bytes, TOKEN_KEY_BYTES))
        return refuse(why,
                      "line %d: a key is 64 hex digits (0-9 a-f), with \"id:\" before "
                      "them where there are several",
                      number);
    if (is_zero(&key))
        return refuse(why, "line %d: a key of zeros can be guessed", number);
    for (size_t i = 0; i < keys->count; i++)
        if (keys->at[i].id == key.id)
            return refuse(why, "line %d: key %u is there twice", number, key.id);
    keys->at[keys->count++] = key;
    return true;
}

bool token_keys_load(const char *path, uid_t owner, struct token_keys *out, char *why)
{
    char text[FILE_MAX_BYTES];
    bool is_good = secret_read(path, owner, text, sizeof(text), why);
    int number = 1;

    *out = (struct token_keys){0};
    for (const char *line = text; is_good && *line != '\0'; number++) {
        size_t len = strcspn(line, "\n");

        is_good = add_key(out, line, len, number, why);
        line += len + (line[len] == '\n');
    }
    if (is_good && out->count == 0)
        is_good = refuse(why, "it is empty; it must hold 64 hex digits");
    OPENSSL_cleanse(text, sizeof(text));
    return is_good;
}

/* The HMAC state of a thread, prepared for the key that the thread used last.
 * OpenSSL's HMAC() finds the algorithm and hashes the key at every call, which takes
 * six times as long. */
struct hmac {
    EVP_MAC_CTX *context;
    bool has_key;
    unsigned char key[TOKEN_KEY_BYTES];
};

static struct dlock_thread_value hmac_of_thread;
static struct dlock_once hmac_once = DLOCK_ONCE_INITIALIZER;

static void hmac_free(void *opaque)
{
    struct hmac *hmac = opaque;

    EVP_MAC_CTX_free(hmac->context);
    OPENSSL_cleanse(hmac, sizeof(*hmac));
    free(hmac);
}

static void hmac_make_key(void)
{
    if (!dlock_thread_value_make(&hmac_of_thread, hmac_free))
        abort();
}

/* NULL: no memory. */
static struct hmac *hmac_new(void)
{
    struct hmac *hmac = calloc(1, sizeof(*hmac));
    EVP_MAC *algorithm = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);

    if (hmac != NULL && algorithm != NULL)
        hmac->context = EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm); /* the context keeps it */
    if (hmac != NULL && hmac->context != NULL &&
        dlock_thread_value_set(hmac_of_thread, hmac))
        return hmac;
    if (hmac != NULL)
        hmac_free(hmac);
    return NULL;
}

static bool hmac_begin(struct hmac *hmac, const struct token_key *key)
{
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };

    if (hmac->has_key && CRYPTO_memcmp(hmac->key, key->bytes, TOKEN_KEY_BYTES) == 0)
        return EVP_MAC_init(hmac->context, NULL, 0, NULL) == 1;
    memcpy(hmac->key, key->bytes, TOKEN_KEY_BYTES);
    hmac->has_key =
        EVP_MAC_init(hmac->context, key->bytes, TOKEN_KEY_BYTES, params) == 1;
    return hmac->has_key;
}

bool token_mac(const struct token_key *key, const char *text, size_t len,
               unsigned char mac[TOKEN_KEY_BYTES])
{
    struct hmac *hmac = NULL;
    size_t written = 0;

    dlock_once_run(&hmac_once, hmac_make_key);
    hmac = dlock_thread_value_get(hmac_of_thread);
    if (hmac == NULL)
        hmac = hmac_new();
    return hmac != NULL && hmac_begin(hmac, key) &&
           EVP_MAC_update(hmac->context, (const unsigned char *)text, len) == 1 &&
           EVP_MAC_final(hmac->context, mac, &written, TOKEN_KEY_BYTES) == 1 &&
           written == TOKEN_KEY_BYTES;
}

void token_make(const struct token_keys *keys, const struct token_claim *claim,
                char out[TOKEN_LEN + 1])
{
    const struct token_key *key = &keys->at[0];
    unsigned char mac[TOKEN_KEY_BYTES];

    (void)snprintf(out, CLAIM_DIGITS + 1, "%02x%02x%04x%016" PRIx64 "%016" PRIx64, FORM,
                   (unsigned)claim->role & 0xff, key->id & 0xffff,
                   (uint64_t)claim->user_id, (uint64_t)claim->expires_s);
    if (!token_mac(key, out, CLAIM_DIGITS, mac))
        abort(); /* only the laboratory makes tokens, and it cannot go on without
                  * memory */
    for (size_t i = 0; i < MAC_BYTES; i++)
        (void)snprintf(out + CLAIM_DIGITS + 2 * i, 3, "%02x", mac[i]);
}

static uint64_t number_of(const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;

    for (size_t i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static const struct token_key *find_key(const struct token_keys *keys, uint64_t id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->at[i].id == id)
            return &keys->at[i];
    return NULL;
}

enum token_verdict token_verify(const struct token_keys *keys, const char *token,
                                int64_t now_s, struct token_claim *claim)
{
    unsigned char said[CLAIM_DIGITS / 2];
    unsigned char claimed[MAC_BYTES];
    unsigned char mac[TOKEN_KEY_BYTES];
    const struct token_key *key = NULL;
    uint64_t user = 0;
    uint64_t expires = 0;
    size_t len = strnlen(token, TOKEN_LEN + 1);

    if (len == OLD_LEN && read_hex(token, said, sizeof(said)))
        return TOKEN_OLD_FORM;
    if (len != TOKEN_LEN || !read_hex(token, said, sizeof(said)) ||
        !read_hex(token + CLAIM_DIGITS, claimed, sizeof(claimed)) || said[0] != FORM)
        return TOKEN_MALFORMED;
    key = find_key(keys, number_of(said + 2, 2));
    if (key == NULL)
        return TOKEN_UNKNOWN_KEY;
    if (!token_mac(key, token, CLAIM_DIGITS, mac) ||
        CRYPTO_memcmp(mac, claimed, MAC_BYTES) != 0)
        return TOKEN_FORGED;
    user = number_of(said + 4, 8);
    expires = number_of(said + 12, 8);
    if (user == 0 || user > INT64_MAX || expires > INT64_MAX ||
        (said[1] != TOKEN_BUYER && said[1] != TOKEN_OPERATOR))
        return TOKEN_MALFORMED;
    *claim = (struct token_claim){(int64_t)user, (int64_t)expires,
                                  (enum token_role)said[1]};
    return now_s < claim->expires_s ? TOKEN_GOOD : TOKEN_EXPIRED;
}

const char *token_verdict_text(enum token_verdict verdict)
{
    switch (verdict) {
    case TOKEN_GOOD:
        break;
    case TOKEN_MALFORMED:
        return "the token is not 72 lower-case hex digits of a form that is known here";
    case TOKEN_OLD_FORM:
        return "the token has the form from before tokens expired; get a new one";
    case TOKEN_UNKNOWN_KEY:
        return "the token was made with a key that is not in use here";
    case TOKEN_FORGED:
        return "the token was not made with the key of this service";
    case TOKEN_EXPIRED:
        return "the token has expired; get a new one";
    }
    return NULL;
}

int64_t token_now_s(void)
{
    return dlock_clock_wall_ms() / 1000;
}
