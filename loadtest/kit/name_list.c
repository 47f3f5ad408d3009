/* SPDX-License-Identifier: MIT */
/* name_list.c -- a flag's list of names with commas between. */
#include "loadtest/kit/name_list.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text/printable.h"
#include "base/text/suggest.h"
#include "loadtest/kit/why.h"
#include "lock/dlock.h"

const char *words_lock_at(size_t i)
{
    return i < dlock_variant_count() ? dlock_variant_at(i)->name : NULL;
}

size_t words_place(const char *(*names)(size_t), const char *name)
{
    for (size_t i = 0; names(i); i++)
        if (strcmp(names(i), name) == 0)
            return i;
    return SIZE_MAX;
}

/* Is `word` (of `length` bytes) a name?  If not, print the names. */
static const char *known(const char *program, const char *flag, const char *word,
                         size_t length, const char *(*names)(size_t))
{
    char text[64], shown[80];
    size_t place;

    snprintf(text, sizeof text, "%.*s", (int)length, word);
    place = words_place(names, text);
    if (place != SIZE_MAX)
        return names(place);
    eprintf("%s: --%s: unknown \"%s\"", program, flag, printable(text, shown, sizeof shown));
    suggest_tell(text, names);
    return NULL;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i] == name)
            return true;
    return false;
}

size_t words_read(const char *program, const char *flag, const char *text,
                  const char *(*names)(size_t), const char **out, size_t max)
{
    size_t n = 0;

    if (!text || strcmp(text, "all") == 0) {
        for (; n < max && names(n); n++)
            out[n] = names(n);
        return n;
    }
    while (n < max) {
        size_t length = strcspn(text, ",");
        const char *name = known(program, flag, text, length, names);

        if (!name)
            return 0;
        if (!is_among(name, out, n))
            out[n++] = name;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    return n;
}
