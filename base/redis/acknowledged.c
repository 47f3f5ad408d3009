/* SPDX-License-Identifier: MIT */
/* acknowledged.c -- a write that counts only when replicas have it. */
#include "base/redis/acknowledged.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/os/clock.h"
#include "base/redis/link_inside.h"

_Thread_local uint64_t redis_unacknowledged_writes;

/* The write itself, on the connection of the conversation. */
static void ask(struct redis_talk *talk, const struct redis_write *write, bool by_text,
                int64_t give_up_ns, struct redis_answer *answer)
{
    struct redis_command command;
    char key_count[REDIS_KEY_COUNT_SIZE];

    if (write->command != NULL)
        command = *write->command;
    else if (!redis_script_command(talk->link, write->script, by_text, key_count, &command)) {
        redis_answer_fail(answer, REDIS_NO_MEMORY, "no memory for a script");
        return;
    }
    redis_talk_ask(talk, &command, give_up_ns, answer);
}

/* After the write: wait for enough replicas to acknowledge it. */
static void confirm(struct redis_talk *talk, int wanted, int64_t give_up_ns,
                    struct redis_answer *answer)
{
    int64_t begun_ns = dlock_clock_ns();
    struct redis_answer waited;
    char why[REDIS_WHY_SIZE];

    redis_talk_await_replicas(talk, wanted, give_up_ns, &waited);
    if (waited.outcome == REDIS_ANSWERED && waited.integer >= wanted)
        return;
    ++*redis_unacknowledged_here();
    if (waited.outcome == REDIS_ANSWERED)
        snprintf(why, sizeof(why), "%.60s: acknowledged by %" PRId64 " of %d replicas in %" PRId64
                 " ms", redis_link_label(talk->link), waited.integer, wanted,
                 (dlock_clock_ns() - begun_ns) / DLOCK_NS_PER_MS);
    else
        snprintf(why, sizeof(why), "WAIT for replicas, %d of them, failed: %.110s", wanted,
                 waited.text);
    redis_answer_fail(answer, REDIS_UNKNOWN, why);
}

static void ask_and_confirm(struct redis_link *link, const struct redis_write *write,
                            bool by_text, int64_t give_up_ns, struct redis_answer *answer)
{
    struct redis_talk talk = {.link = link};

    ask(&talk, write, by_text, give_up_ns, answer);
    if (answer->outcome == REDIS_ANSWERED && write->is_done(answer))
        confirm(&talk, link->replicas_needed, give_up_ns, answer);
    redis_talk_end(&talk, !talk.is_broken);
}

void redis_write_exchange(struct redis_link *link, const struct redis_write *write,
                          int64_t give_up_ns, struct redis_answer *answer)
{
    struct redis_leg leg = {.link = link};

    if (link->replicas_needed > 0) {
        ask_and_confirm(link, write, false, give_up_ns, answer);
        if (answer->lacks_script)
            ask_and_confirm(link, write, true, give_up_ns, answer);
        return;
    }
    if (write->command != NULL)
        redis_exchange(&leg, 1, write->command, give_up_ns);
    else
        redis_script_exchange(&leg, 1, write->script, give_up_ns);
    *answer = leg.answer;
}
