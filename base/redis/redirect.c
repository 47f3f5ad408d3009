/* SPDX-License-Identifier: MIT */
/* redirect.c -- reads the redirects of the nodes of a Redis Cluster. */
#include "base/redis/redirect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/fiber.h"
#include "base/redis/cluster_view.h"

/* The index of these counters in a fiber's tallies, after those of command.h and
 * acknowledged.h. */
enum { FIRST_TALLY = 2 };

_Static_assert(FIRST_TALLY + REDIS_CLUSTER_COUNT_COUNT <= DLOCK_FIBER_TALLIES,
               "a fiber has too few tallies");

static _Thread_local uint64_t counts[REDIS_CLUSTER_COUNT_COUNT];

uint64_t *redis_cluster_counts_here(void)
{
    struct dlock_fiber *fiber = dlock_fiber_here();

    return fiber != NULL ? &fiber->tallies[FIRST_TALLY] : counts;
}

void redis_redirect_count(enum redis_redirect redirect)
{
    if (redirect != REDIS_NO_REDIRECT)
        redis_cluster_counts_here()[redirect - REDIS_MOVED]++;
}

/* Refuse a redirect.  The answer's text, which begins with the node, is cut to leave
 * room for the reason. */
static bool refuse(const struct redis_answer *answer, const char *because,
                   char why[REDIS_TEXT_SIZE])
{
    snprintf(why, REDIS_TEXT_SIZE, "%.180s: %.70s", answer->text, because);
    return false;
}

bool redis_redirect_read(struct redis_address *out, const struct redis_answer *answer, int slot,
                         const struct redis_address *asked, char why[REDIS_TEXT_SIZE])
{
    static const char *const WORDS[] = {[REDIS_MOVED] = ": MOVED ", [REDIS_ASK] = ": ASK "};
    const char *word = WORDS[answer->redirect];
    const char *at = strstr(answer->text, word);
    char *end = NULL;
    long named_slot = at != NULL ? strtol(at + strlen(word), &end, 10) : -1;
    char other[70];

    /* A text that fills its buffer was cut, perhaps in the middle of the port. */
    if (at == NULL || *end != ' ' || strlen(answer->text) == REDIS_TEXT_SIZE - 1 ||
        !redis_address_read(out, end + 1, strlen(end + 1), asked) || out->port == 0)
        return refuse(answer, "the redirect names no node", why);
    if (slot < 0 || named_slot == slot)
        return true;
    snprintf(other, sizeof(other), "the command was for slot %d", slot);
    return refuse(answer, other, why);
}
