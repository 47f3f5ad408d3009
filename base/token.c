/* SPDX-License-Identifier: MIT */
/* token.c -- make and verify tokens. */
#include "base/token.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ID_DIGITS = 16,
    MAC_BYTES = (TOKEN_LEN - ID_DIGITS) / 2,
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

bool token_key_make(const char *path)
{
    struct token_key key;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool made = true;

    if (fd < 0)
        return errno == EEXIST;
    arc4random_buf(key.bytes, sizeof(key.bytes));
    for (size_t i = 0; i < sizeof(key.bytes) && made; i++)
        made = dprintf(fd, "%02x", key.bytes[i]) == 2;
    made = close(fd) == 0 && made;
    if (!made)
        (void)unlink(path);
    return made;
}

bool token_key_load(const char *path, struct token_key *out)
{
    char text[2 * TOKEN_KEY_BYTES + 2] = {0};
    struct stat st;
    ssize_t n = -1;
    bool loaded = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0)
        goto out;
    errno = EACCES;
    if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        goto out;
    n = read(fd, text, sizeof(text));
    errno = EINVAL;
    if (n < 2 * TOKEN_KEY_BYTES || n > 2 * TOKEN_KEY_BYTES + 1 ||
        (n == 2 * TOKEN_KEY_BYTES + 1 && text[2 * TOKEN_KEY_BYTES] != '\n'))
        goto out;
    loaded = read_hex(text, out->bytes, TOKEN_KEY_BYTES);

out:
    if (!loaded) {
        int why = errno;

        (void)close(fd);
        errno = why;
        return false;
    }
    (void)close(fd);
    return true;
}

/* HMAC() cannot fail here: its inputs are fixed in size and SHA-256 is always there. */
static void compute_mac(const struct token_key *key, const char *id_digits,
                        unsigned char mac[MAC_BYTES])
{
    unsigned char full[EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    if (HMAC(EVP_sha256(), key->bytes, TOKEN_KEY_BYTES,
             (const unsigned char *)id_digits, ID_DIGITS, full, &len) == NULL)
        abort();
    memcpy(mac, full, MAC_BYTES);
}

void token_make(const struct token_key *key, int64_t user_id, char out[TOKEN_LEN + 1])
{
    unsigned char mac[MAC_BYTES];

    (void)snprintf(out, ID_DIGITS + 1, "%016" PRIx64, (uint64_t)user_id);
    compute_mac(key, out, mac);
    for (size_t i = 0; i < MAC_BYTES; i++)
        (void)snprintf(out + ID_DIGITS + 2 * i, 3, "%02x", mac[i]);
}

bool token_verify(const struct token_key *key, const char *token, int64_t *user_id)
{
    unsigned char id[ID_DIGITS / 2];
    unsigned char claimed[MAC_BYTES];
    unsigned char mac[MAC_BYTES];
    uint64_t value = 0;

    if (strlen(token) != TOKEN_LEN || !read_hex(token, id, sizeof(id)) ||
        !read_hex(token + ID_DIGITS, claimed, sizeof(claimed)))
        return false;
    compute_mac(key, token, mac);
    if (CRYPTO_memcmp(mac, claimed, MAC_BYTES) != 0)
        return false;
    for (size_t i = 0; i < sizeof(id); i++)
        value = value << 8 | id[i];
    if (value == 0 || value > INT64_MAX)
        return false;
    *user_id = (int64_t)value;
    return true;
}
