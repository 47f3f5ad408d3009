/* SPDX-License-Identifier: MIT */
/* lock_commands.c -- the Redis commands of a lock, written once for all who send them. */
#include "loadtest/probe/lock_commands.h"

#include <stdio.h>
#include <string.h>

#include "gen/lua_scripts.h"

#define LEASE_MS "30000"

static const char fill_strings[] =
    "for i = ARGV[1] + 0, ARGV[2] - 1 do redis.call('SET', ARGV[3] .. "
    "string.format('%012d', i), ARGV[4], 'PX', 60000) end";
static const char fill_hashes[] =
    "for i = ARGV[1] + 0, ARGV[2] - 1 do local key = ARGV[3] .. string.format('%012d', i) "
    "redis.call('HSET', key, ARGV[4], 1) redis.call('PEXPIRE', key, 60000) end";

/* Of a lock whose value is its holder's token. */
#define TOKEN_RECIPE(lock)                                                             \
    {                                                                                  \
        .name = lock, .release_script = LUA_TOKEN_RELEASE, .fill = fill_strings,       \
        .acquire = {"SET", "@name", "@token", "NX", "PX", "@lease"},                   \
        .release = {"EVALSHA", "@sha", "1", "@name", "@token"},                        \
    }

static const struct recipe recipes[] = {
    TOKEN_RECIPE("lua"),
    TOKEN_RECIPE("redlock"), /* on each node */
    {
        .name = "reentrant",
        .acquire_script = LUA_REENTRANT_ACQUIRE,
        .release_script = LUA_REENTRANT_RELEASE,
        .acquire = {"EVALSHA", "@sha", "1", "@name", "@lease", "@owner", "1"},
        .release = {"EVALSHA", "@sha", "1", "@name", "@owner", "1", "@lease", "0", "@channel"},
        .fill = fill_hashes,
    },
};

const struct recipe *recipe_find(const char *name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    }
    return NULL;
}

static void put_word(char out[RECIPE_WORD_MAX], const char *word,
                     const struct recipe_claim *claim, const char *sha)
{
    if (strcmp(word, "@channel") == 0) {
        snprintf(out, RECIPE_WORD_MAX, "redisson_lock__channel:{%s}", claim->name);
        return;
    }
    if (strcmp(word, "@name") == 0)
        word = claim->name;
    else if (strcmp(word, "@owner") == 0)
        word = claim->owner;
    else if (strcmp(word, "@token") == 0)
        word = claim->token;
    else if (strcmp(word, "@lease") == 0)
        word = LEASE_MS;
    else if (strcmp(word, "@sha") == 0)
        word = sha;
    snprintf(out, RECIPE_WORD_MAX, "%s", word);
}

void recipe_fill_in(struct recipe_command *out, const recipe_words words,
                    const struct recipe_claim *claim, const char *sha)
{
    *out = (struct recipe_command){0};
    for (int i = 0; i < RECIPE_ARGC_MAX && words[i]; i++) {
        put_word(out->text[i], words[i], claim, sha);
        out->argv[i] = out->text[i];
        out->lengths[i] = strlen(out->text[i]);
        out->argc++;
    }
}
