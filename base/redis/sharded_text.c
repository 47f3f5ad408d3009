/* SPDX-License-Identifier: MIT */
/* sharded_text.c -- the texts of Lua scripts for the nodes of a Redis Cluster. */
#include "base/redis/sharded_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct redis_sharded_text {
    const char *from; /* the address identifies the script */
    struct redis_sharded_text *next;
    char text[];
};

/* A word of a script, with its quotes, and its replacement. */
struct word {
    const char *plain, *sharded;
};

static const struct word WORDS[] = {
    {"'PUBLISH'", "'SPUBLISH'"},
    {"'NUMSUB'", "'SHARDNUMSUB'"},
};

enum { WORD_COUNT = sizeof(WORDS) / sizeof(WORDS[0]), GROWTH_MAX = 5 };

void redis_sharded_texts_init(struct redis_sharded_texts *texts)
{
    dlock_mutex_init(&texts->mutex);
    texts->all = NULL;
}

void redis_sharded_texts_destroy(struct redis_sharded_texts *texts)
{
    while (texts->all != NULL) {
        struct redis_sharded_text *next = texts->all->next;

        free(texts->all);
        texts->all = next;
    }
    dlock_mutex_destroy(&texts->mutex);
}

/* The word at the beginning of `at`; NULL: there is none. */
static const struct word *word_at(const char *at)
{
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (strncmp(at, WORDS[i].plain, strlen(WORDS[i].plain)) == 0)
            return &WORDS[i];
    return NULL;
}

static size_t count_words(const char *text)
{
    size_t count = 0;

    for (const char *at = text; *at != '\0'; at++)
        count += word_at(at) != NULL;
    return count;
}

static struct redis_sharded_text *write_text(const char *text)
{
    struct redis_sharded_text *made =
        malloc(sizeof(*made) + strlen(text) + GROWTH_MAX * count_words(text) + 1);
    char *to;

    if (made == NULL)
        return NULL;
    made->from = text;
    to = made->text;
    while (*text != '\0') {
        const struct word *word = word_at(text);

        if (word == NULL) {
            *to++ = *text++;
            continue;
        }
        memcpy(to, word->sharded, strlen(word->sharded));
        to += strlen(word->sharded);
        text += strlen(word->plain);
    }
    *to = '\0';
    return made;
}

const char *redis_sharded_text(struct redis_sharded_texts *texts, const char *text)
{
    struct redis_sharded_text *found;

    dlock_mutex_lock(&texts->mutex);
    found = texts->all;
    while (found != NULL && found->from != text)
        found = found->next;
    if (found == NULL) {
        found = write_text(text);
        if (found != NULL) {
            found->next = texts->all;
            texts->all = found;
        }
    }
    dlock_mutex_unlock(&texts->mutex);
    return found != NULL ? found->text : NULL;
}
