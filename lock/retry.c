/* SPDX-License-Identifier: MIT */
/* retry.c -- the policies for trying again: parsing them, and computing their
 * pauses. */
#include "lock/retry.h"

#include <string.h>

#include "base/os/clock.h"
#include "base/os/random.h"

enum {
    DEFAULT_JITTER_PERCENT = 20,
    PAUSE_MAX_MS = 3600 * 1000,
    TRIES_MAX = 1000000,
    NUMBER_LIMIT = 1000000000,
};

static const char EXPECTED[] =
    "expected none, push, fixed:TIME or exponential:TIME..TIME, the last two "
    "perhaps with ,xN and ,jitter:N%";

/* If the text goes on with `word`, move *at past it and return true. */
static bool skip(const char **at, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(*at, word, len) != 0)
        return false;
    *at += len;
    return true;
}

/* Read a whole number of at most NUMBER_LIMIT; -1: there is none. */
static int read_number(const char **at)
{
    int64_t number = 0;
    const char *begin = *at;

    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (number <= NUMBER_LIMIT)
            number = number * 10 + (**at - '0');
    if (*at == begin)
        return -1;
    return number > NUMBER_LIMIT ? NUMBER_LIMIT : (int)number;
}

/* Read a time.  Returns milliseconds; 0: it is malformed or out of range. */
static int read_time_ms(const char **at)
{
    int64_t time_ms = read_number(at);

    if (skip(at, "ms"))
        time_ms *= 1;
    else if (skip(at, "s"))
        time_ms *= 1000;
    else if (skip(at, "m"))
        time_ms *= 60 * 1000;
    else
        return 0;
    return time_ms < 1 || time_ms > PAUSE_MAX_MS ? 0 : (int)time_ms;
}

static dlock_status refuse(const char *text, const char *what)
{
    return dlock_fail(DLOCK_INVALID, "retry \"%.60s\": %s; %s", text, what, EXPECTED);
}

/* ",xN" and ",jitter:N%", until the end of the text. */
static dlock_status read_extras(const char *text, const char *at,
                                struct dlock_retry *out)
{
    while (*at != '\0') {
        int number;

        if (skip(&at, ",x")) {
            number = read_number(&at);
            if (number < 1 || number > TRIES_MAX)
                return refuse(text, "x takes a number of tries, 1 to 1000000");
            out->tries_max = (unsigned)number;
        } else if (skip(&at, ",jitter:")) {
            number = read_number(&at);
            if (number < 0 || number > 100 || !skip(&at, "%"))
                return refuse(text, "jitter takes 0% to 100%");
            out->jitter_percent = number;
        } else {
            return refuse(text, "the text behind the policy is not ,xN or ,jitter:N%");
        }
    }
    return DLOCK_OK;
}

dlock_status dlock_retry_parse(const char *text, struct dlock_retry *out)
{
    const char *at = text;

    *out = (struct dlock_retry){.jitter_percent = DEFAULT_JITTER_PERCENT};
    if (text == NULL || strcmp(text, "push") == 0)
        return DLOCK_OK;
    if (strcmp(text, "none") == 0) {
        out->kind = DLOCK_RETRY_NONE;
        return DLOCK_OK;
    }
    if (skip(&at, "fixed:")) {
        out->kind = DLOCK_RETRY_FIXED;
        out->first_ms = out->max_ms = read_time_ms(&at);
    } else if (skip(&at, "exponential:")) {
        out->kind = DLOCK_RETRY_EXPONENTIAL;
        out->first_ms = read_time_ms(&at);
        if (!skip(&at, ".."))
            return refuse(text, "exponential takes two times with .. between them");
        out->max_ms = read_time_ms(&at);
    } else {
        return refuse(text, "there is no such policy");
    }
    if (out->first_ms == 0 || out->max_ms == 0)
        return refuse(text, "a time is a whole number with ms, s or m, 1ms to 60m");
    if (out->max_ms < out->first_ms)
        return refuse(text, "its longest pause is shorter than its first");
    return read_extras(text, at, out);
}

int64_t dlock_retry_pause_ns(const struct dlock_retry *retry, unsigned nth)
{
    int64_t pause_ms = retry->first_ms;
    int64_t spread_us;

    while (--nth > 0 && pause_ms < retry->max_ms)
        pause_ms *= 2;
    if (pause_ms > retry->max_ms)
        pause_ms = retry->max_ms;
    /* In microseconds the longest pause fits 32 bits. */
    spread_us = pause_ms * 1000 * retry->jitter_percent / 100;
    if (spread_us > 0)
        return pause_ms * DLOCK_NS_PER_MS -
               (int64_t)dlock_random_below((uint32_t)spread_us + 1) * 1000;
    return pause_ms * DLOCK_NS_PER_MS;
}
