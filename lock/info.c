/* SPDX-License-Identifier: MIT */
/* info.c -- what stores tell of a lock, read from one line of text. */
#include "lock/info.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/os/number.h"

dlock_info dlock_info_nothing(void)
{
    dlock_info info = {.waiter_count = -1};

    return info;
}

struct range {
    int64_t least, most;
};

/* Read `count` numbers, each with a space behind it.  The word `never` is a number that
 * may be as great as INT64_MAX.  Answers where the text goes on; NULL: they are not there,
 * or out of their ranges. */
static const char *read_numbers(const char *text, const struct range *ranges, int count,
                                int64_t *out)
{
    static const char NEVER[] = "never ";

    for (int i = 0; i < count; i++) {
        size_t len = strcspn(text, " ");

        if (ranges[i].most == INT64_MAX && strncmp(text, NEVER, strlen(NEVER)) == 0)
            out[i] = INT64_MAX;
        else if (text[len] != ' ' ||
                 !dlock_number_read(text, len, ranges[i].least, ranges[i].most, &out[i]))
            return NULL;
        text += len + 1;
    }
    return text;
}

/* The second line, if there is one. */
static bool read_next(const char *line, dlock_info *out)
{
    enum { LEFT, LISTENERS, COUNT };
    static const struct range RANGES[COUNT] = {
        [LEFT] = {1, INT64_MAX - 1},
        [LISTENERS] = {0, INT_MAX},
    };
    int64_t numbers[COUNT] = {0};
    const char *owner;

    if (line == NULL)
        return true;
    owner = read_numbers(line + 1, RANGES, COUNT, numbers);
    if (owner == NULL || *owner == '\0')
        return false;
    out->next_left_ms = numbers[LEFT];
    out->next_is_gone = numbers[LISTENERS] == 0;
    snprintf(out->next_owner, sizeof(out->next_owner), "%s", owner);
    return true;
}

bool dlock_info_read(const char *text, dlock_info *out)
{
    enum { MODE, LEFT, LEVELS, WAITERS, READERS, FENCE, COUNT };
    static const struct range RANGES[COUNT] = {
        [MODE] = {0, 2},           [LEFT] = {0, INT64_MAX},  [LEVELS] = {0, INT_MAX},
        [WAITERS] = {-1, INT_MAX}, [READERS] = {0, INT_MAX}, [FENCE] = {0, INT64_MAX - 1},
    };
    int64_t numbers[COUNT] = {0};
    const char *owner = read_numbers(text, RANGES, COUNT, numbers);

    *out = dlock_info_nothing();
    if (owner == NULL || !read_next(strchr(owner, '\n'), out))
        return false;
    out->waiter_count = (int)numbers[WAITERS];
    if (numbers[MODE] == 0)
        return true;
    out->locked = true;
    out->shared = numbers[MODE] == 2;
    out->left_ms = numbers[LEFT];
    out->hold_count = (int)numbers[LEVELS];
    out->reader_count = (int)numbers[READERS];
    out->fence = (uint64_t)numbers[FENCE];
    snprintf(out->owner, sizeof(out->owner), "%.*s", (int)strcspn(owner, "\n"), owner);
    return true;
}
