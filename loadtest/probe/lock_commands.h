/* SPDX-License-Identifier: MIT */
/* lock_commands.h -- the Redis commands of a lock, for code that sends them without the library.
 *
 * The bench's blocking connections and redis-benchmark must send the same commands as the lock.
 * Otherwise their ratios mean nothing.
 */
#ifndef LOADTEST_PROBE_LOCK_COMMANDS_H
#define LOADTEST_PROBE_LOCK_COMMANDS_H

#include <stddef.h>

enum { RECIPE_ARGC_MAX = 10, RECIPE_WORD_MAX = 320, RECIPE_SHA_SIZE = 41 };

/* A command whose words may be "@name", "@channel", "@owner", "@token", "@lease" or
 * "@sha"; NULL at the end. */
typedef const char *recipe_words[RECIPE_ARGC_MAX + 1];

struct recipe {
    const char *name;           /* of the lock                                      */
    const char *acquire_script; /* what "@sha" is in `acquire`; NULL: no script     */
    const char *release_script;
    recipe_words acquire; /* answers OK or nil: taken                               */
    recipe_words release; /* answers 1: given back                                  */
    const char *fill;     /* a script that takes, for ARGV[4], the locks named ARGV[3]
                           * and twelve digits from ARGV[1] on, before ARGV[2]     */
};

/* NULL if there is none for this lock. */
const struct recipe *recipe_find(const char *name);

/* The lock that is asked for, and the client that asks. */
struct recipe_claim {
    const char *name, *owner, *token;
};

/* A command with every word in its place. */
struct recipe_command {
    int argc;
    const char *argv[RECIPE_ARGC_MAX + 1];
    size_t lengths[RECIPE_ARGC_MAX];
    char text[RECIPE_ARGC_MAX][RECIPE_WORD_MAX];
};

void recipe_fill_in(struct recipe_command *out, const recipe_words words,
                    const struct recipe_claim *claim, const char *sha);

#endif /* LOADTEST_PROBE_LOCK_COMMANDS_H */
