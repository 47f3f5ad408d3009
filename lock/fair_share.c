/* SPDX-License-Identifier: MIT */
/* fair_share.c -- sharing the grants of one lock with other processes. */
#include "lock/fair_share.h"

#include <string.h>
#include <utlist.h>

#include "base/os/clock.h"

enum {
    MOMENT_FIRST_NS = 300 * 1000,
    MOMENT_LEAST_NS = 50 * 1000,
    MOMENT_MOST_NS = 10 * 1000 * 1000,
    UNUSED_MAX = 8,       /* 2^8 releases pass then */
    /* The other processes get their turn when the balance has reached MANY, or FEW
     * after this process has had its own turn for long enough.  They keep the turn
     * until the balance is 0. */
    BALANCE_MANY = 24,
    BALANCE_FEW = 6,
    BALANCE_MAX = 30,
    OWN_TURN_NS = 5 * 1000 * 1000,
};

static struct dlock_fair_share *share_of(struct dlock_fair_shares *shares,
                                         const char *channel)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *p = channel; *p != '\0'; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return &shares->slots[hash % DLOCK_SHARE_SLOTS];
}

void dlock_fair_shares_init(struct dlock_fair_shares *shares)
{
    for (int i = 0; i < DLOCK_SHARE_SLOTS; i++) {
        shares->slots[i] = (struct dlock_fair_share){.moment_ns = MOMENT_FIRST_NS};
        dlock_mutex_init(&shares->slots[i].mutex);
    }
}

void dlock_fair_shares_destroy(struct dlock_fair_shares *shares)
{
    for (int i = 0; i < DLOCK_SHARE_SLOTS; i++)
        dlock_mutex_destroy(&shares->slots[i].mutex);
}

/* ---- with the mutex held ---- */

static void move_balance(struct dlock_fair_share *share, int by)
{
    int sum = share->balance + by;

    share->balance = sum > BALANCE_MAX    ? BALANCE_MAX
                    : sum < -BALANCE_MAX ? -BALANCE_MAX
                                         : sum;
}

static void change_moment(struct dlock_fair_share *share, int64_t by_ns)
{
    int64_t sum_ns = share->moment_ns + by_ns;

    share->moment_ns = sum_ns > MOMENT_MOST_NS    ? MOMENT_MOST_NS
                      : sum_ns < MOMENT_LEAST_NS ? MOMENT_LEAST_NS
                                                 : sum_ns;
}

static void close_turn(struct dlock_fair_share *share)
{
    share->is_open = false;
    share->closed_ns = dlock_clock_ns();
}

static bool is_due(const struct dlock_fair_share *share, int64_t now_ns)
{
    return share->balance >= BALANCE_MANY ||
           (share->balance >= BALANCE_FEW && now_ns - share->closed_ns >= OWN_TURN_NS);
}

static void note_used(struct dlock_fair_share *share)
{
    share->unused_count = 0;
    change_moment(share, -(share->moment_ns / 16));
}

static void note_unused(struct dlock_fair_share *share)
{
    close_turn(share);
    share->balance = 0;
    change_moment(share, share->moment_ns / 4);
    if (share->moment_ns < MOMENT_MOST_NS)
        return;
    if (share->unused_count < UNUSED_MAX)
        share->unused_count++;
    share->pass_count = 1u << share->unused_count;
}

static bool holds_back(const struct dlock_fair_share *share, int64_t until_ns)
{
    int64_t now_ns = dlock_clock_ns();

    return share->is_open && now_ns < share->until_ns && now_ns < until_ns;
}

static bool is_held_back(const struct dlock_fair_share *share, const char *channel)
{
    const struct dlock_fair_held *held;

    LL_FOREACH(share->held, held)
        if (strcmp(held->channel, channel) == 0)
            return true;
    return false;
}

/* ---- for the lock ---- */

void dlock_fair_shares_released(struct dlock_fair_shares *shares, const char *channel,
                                int64_t other_count)
{
    struct dlock_fair_share *share = share_of(shares, channel);
    int64_t now_ns;

    if (other_count <= 0)
        return;
    now_ns = dlock_clock_ns();
    dlock_mutex_lock(&share->mutex);
    move_balance(share, DLOCK_SHARE_OWN);
    if (share->pass_count > 0) {
        share->pass_count--;
    } else if (share->is_open || is_due(share, now_ns)) {
        share->is_open = true;
        share->until_ns = now_ns + share->moment_ns;
    }
    dlock_mutex_unlock(&share->mutex);
}

bool dlock_fair_shares_heard(struct dlock_fair_shares *shares, const char *channel)
{
    struct dlock_fair_share *share = share_of(shares, channel);
    bool is_enough;

    dlock_mutex_lock(&share->mutex);
    move_balance(share, -DLOCK_SHARE_HEARD);
    if (share->is_open && share->balance <= 0) {
        close_turn(share);
        note_used(share);
    } else if (share->is_open) {
        share->until_ns = dlock_clock_ns() + share->moment_ns;
    }
    is_enough = is_held_back(share, channel);
    dlock_mutex_unlock(&share->mutex);
    return is_enough;
}

bool dlock_fair_shares_hold_back(struct dlock_fair_shares *shares, const char *channel,
                                 int64_t until_ns)
{
    struct dlock_fair_share *share = share_of(shares, channel);
    struct dlock_fair_held me = {.channel = channel};
    bool was_held_back = false;

    dlock_mutex_lock(&share->mutex);
    while (holds_back(share, until_ns)) {
        int64_t end_ns = share->until_ns < until_ns ? share->until_ns : until_ns;

        was_held_back = true;
        LL_PREPEND(share->held, &me);
        dlock_mutex_unlock(&share->mutex);
        dlock_clock_sleep_until(end_ns);
        dlock_mutex_lock(&share->mutex);
        LL_DELETE(share->held, &me);
    }
    dlock_mutex_unlock(&share->mutex);
    return was_held_back;
}

void dlock_fair_shares_answered(struct dlock_fair_shares *shares, const char *channel,
                                bool is_taken)
{
    struct dlock_fair_share *share = share_of(shares, channel);

    dlock_mutex_lock(&share->mutex);
    if (share->is_open && !is_taken)
        note_unused(share);
    dlock_mutex_unlock(&share->mutex);
}
