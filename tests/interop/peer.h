/* SPDX-License-Identifier: MIT */
/* peer.h -- functions that the files of the C peer share. */
#ifndef INTEROP_PEER_H
#define INTEROP_PEER_H

#include <stdlib.h>
#include <string.h>

#include "lock/dlock.h"

enum { COMMAND_LINE_MAX = 512 };

struct command {
    struct command *next; /* in its thread's queue */
    char line[COMMAND_LINE_MAX];
};

/* Copy the nth word of the line to `out`, and return `out`. Word 0 is the tag, word 1 the verb.
 * The result is "" if the line has no such word. */
static inline const char *command_word(const struct command *command, int n,
                                       char out[COMMAND_LINE_MAX])
{
    const char *at = command->line + strspn(command->line, " ");

    while (n-- > 0) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    memcpy(out, at, strcspn(at, " "));
    out[strcspn(at, " ")] = '\0';
    return out;
}

/* Return the value of a key, or `otherwise` if the line does not have the key. */
static inline const char *command_text(const struct command *command, const char *key,
                                       const char *otherwise,
                                       char out[COMMAND_LINE_MAX])
{
    size_t length = strlen(key);
    int n = 2;

    while (command_word(command, n++, out)[0] != '\0')
        if (strncmp(out, key, length) == 0 && out[length] == '=')
            return memmove(out, out + length + 1, strlen(out + length));
    return otherwise;
}

static inline long long command_number(const struct command *command, const char *key)
{
    char text[COMMAND_LINE_MAX];

    return strtoll(command_text(command, key, "0", text), NULL, 10);
}

enum { ANSWER_MAX = 1024 };

/* Write the word for a status into `answer`; for a failure "error" and the reason. */
void peer_answer(dlock_status st, char answer[ANSWER_MAX]);

/* Run a command of the kinds semaphore, permits and latch. If there is no such command, `answer` is
 * left unchanged. */
void peer_primitive(const char *redis_url, const char *kind, const char *verb,
                    const struct command *command, char answer[ANSWER_MAX]);

/* Let "threads" threads contend for the lock "name" for "ms" milliseconds. Each holder increments
 * "number" in Redis. The answer has the number of grants and the times that the threads waited. */
void peer_contend(dlock_system *sys, bool shared, const char *redis_url,
                const struct command *command, char answer[ANSWER_MAX]);

#endif /* INTEROP_PEER_H */
