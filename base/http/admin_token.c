/* SPDX-License-Identifier: MIT */
/* admin_token.c -- makes and reads the file of the admin token. */
#include "base/http/admin_token.h"

#include <stdio.h>
#include <string.h>

#include "base/http/secret.h"

char *admin_token_beside(const char *key_path, char *out, size_t size)
{
    const char *slash = strrchr(key_path, '/');

    (void)snprintf(out, size, "%.*sadmin.token",
                   slash != NULL ? (int)(slash - key_path) + 1 : 0, key_path);
    return out;
}

bool admin_token_make(const char *path)
{
    char line[ADMIN_TOKEN_LEN + 2];

    secret_random_hex(line, ADMIN_TOKEN_BYTES);
    (void)strcat(line, "\n");
    return secret_make(path, line);
}

bool admin_token_read(const char *path, uid_t owner, char out[ADMIN_TOKEN_LEN + 1],
                      char *why)
{
    char text[ADMIN_TOKEN_LEN + 64];
    size_t digits = 0;

    if (!secret_read(path, owner, text, sizeof(text), why))
        return false;
    digits = strspn(text, "0123456789abcdef");
    if (digits != ADMIN_TOKEN_LEN || strspn(text, "0") == digits ||
        strcmp(text + digits, text[digits] == '\n' ? "\n" : "") != 0) {
        (void)snprintf(why, SECRET_WHY_MAX,
                       "it must hold 64 hex digits (0-9 a-f), not all of them 0; remove "
                       "it, and a new one is made");
        return false;
    }
    memcpy(out, text, ADMIN_TOKEN_LEN);
    out[ADMIN_TOKEN_LEN] = '\0';
    return true;
}
