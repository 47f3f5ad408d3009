/* SPDX-License-Identifier: MIT */
/* secret.c -- makes and reads files with a secret. */
#include "base/http/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t n = write(fd, text, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        left -= (size_t)n;
    }
    return true;
}

/* Write the file under another name and then link it: so no process sees a half-written
 * file, and an existing file is not replaced. */
bool secret_make(const char *path, const char *text)
{
    char fresh[PATH_MAX];
    bool is_made = false;
    int why = 0;
    int fd = -1;

    if (access(path, F_OK) == 0)
        return true;
    if ((size_t)snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path) >= sizeof(fresh)) {
        errno = ENAMETOOLONG;
        return false;
    }
    fd = mkostemp(fresh, O_CLOEXEC); /* with mode 0600 */
    if (fd < 0)
        return false;
    is_made = write_all(fd, text) && fsync(fd) == 0;
    if (close(fd) != 0)
        is_made = false;
    is_made = is_made && (link(fresh, path) == 0 || errno == EEXIST);
    why = errno;
    (void)unlink(fresh);
    errno = why;
    return is_made;
}

static bool refuse(char *why, const char *what)
{
    (void)snprintf(why, SECRET_WHY_MAX, "%s", what);
    return false;
}

/* Is the file regular, of the right owner, and private? */
static bool is_private(const struct stat *st, uid_t owner, char *why)
{
    if (S_ISDIR(st->st_mode))
        return refuse(why, "it is a directory; a file is needed");
    if (!S_ISREG(st->st_mode))
        return refuse(why, "it is no regular file");
    if (st->st_uid != owner && st->st_uid != 0) {
        (void)snprintf(why, SECRET_WHY_MAX,
                       "it belongs to user %u; it must belong to user %u, who uses it, "
                       "or to root",
                       (unsigned)st->st_uid, (unsigned)owner);
        return false;
    }
    if ((st->st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        (void)snprintf(why, SECRET_WHY_MAX,
                       "its mode is %04o; it must be readable by its owner only (chmod "
                       "600)",
                       (unsigned)(st->st_mode & 07777));
        return false;
    }
    return true;
}

/* Read the whole file, or as much of it as fits. */
static bool read_all(int fd, char *text, size_t size, char *why)
{
    size_t n = 0;

    while (n + 1 < size) {
        ssize_t got = read(fd, text + n, size - 1 - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return refuse(why, strerror(errno));
        if (got == 0)
            break;
        n += (size_t)got;
    }
    text[n] = '\0';
    if (n + 1 >= size)
        return refuse(why, "it is too long");
    return strlen(text) == n || refuse(why, "it holds a NUL byte");
}

bool secret_read(const char *path, uid_t owner, char *text, size_t size, char *why)
{
    struct stat st;
    bool is_read = false;
    /* O_NONBLOCK, because opening a pipe would otherwise wait for a writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    text[0] = '\0';
    if (fd < 0)
        return refuse(why, strerror(errno));
    if (fstat(fd, &st) != 0)
        (void)refuse(why, strerror(errno));
    else
        is_read = is_private(&st, owner, why) && read_all(fd, text, size, why);
    (void)close(fd);
    return is_read;
}

void secret_random_hex(char *out, size_t count)
{
    static const char DIGITS[] = "0123456789abcdef";

    for (size_t i = 0; i < count; i++) {
        unsigned char byte;

        arc4random_buf(&byte, sizeof(byte));
        out[2 * i] = DIGITS[byte >> 4];
        out[2 * i + 1] = DIGITS[byte & 15];
    }
    out[2 * count] = '\0';
}

bool secret_equals(const char *a, const char *b)
{
    size_t len = strlen(a);

    return strlen(b) == len && CRYPTO_memcmp(a, b, len) == 0;
}
