/* SPDX-License-Identifier: MIT */
/* smaller.c -- reads and prints the text of a smaller world. */
#include "tests/simulation/smaller.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int64_t least;
} sizes[SIZE_COUNT] = {
#define X(id, name, least) {name, least},
    SMALLER_SIZES(X)
#undef X
};

const struct smaller smaller_nothing = {.most = {-1, -1, -1, -1, -1, -1}};

const char *smaller_names(void)
{
    return
#define X(id, name, least) name ","
        SMALLER_SIZES(X)
#undef X
        "draw";
}

int64_t smaller_least(enum smaller_size size)
{
    return sizes[size].least;
}

static bool read_part(struct smaller *out, const char *name, size_t len, uint64_t number)
{
    if (len == strlen("draw") && strncmp(name, "draw", len) == 0) {
        out->draw = number;
        return true;
    }
    for (int i = 0; i < SIZE_COUNT; i++)
        if (strlen(sizes[i].name) == len && strncmp(sizes[i].name, name, len) == 0 &&
            (int64_t)number >= sizes[i].least && number < 1000000) {
            out->most[i] = (int64_t)number;
            return true;
        }
    return false;
}

bool smaller_read(struct smaller *out, const char *text)
{
    *out = smaller_nothing;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ":,");
        char *end = NULL;
        uint64_t number;

        if (at[len] != ':' || at[len + 1] < '0' || at[len + 1] > '9')
            return false;
        number = strtoull(at + len + 1, &end, 10);
        if (!read_part(out, at, len, number))
            return false;
        at = end;
        if (*at == '\0')
            return true;
        if (*at != ',')
            return false;
    }
}

void smaller_print(char out[SMALLER_TEXT], const struct smaller *less)
{
    size_t len = 0;

    out[0] = '\0';
    for (int i = 0; i < SIZE_COUNT; i++)
        if (less->most[i] >= 0)
            len += (size_t)snprintf(out + len, SMALLER_TEXT - len, "%s%s:%" PRId64,
                                    len > 0 ? "," : "", sizes[i].name, less->most[i]);
    (void)snprintf(out + len, SMALLER_TEXT - len, "%sdraw:%" PRIu64, len > 0 ? "," : "",
                   less->draw);
}
