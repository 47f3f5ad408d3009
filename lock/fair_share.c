/* SPDX-License-Identifier: MIT */
/* fair_share.c -- how the processes that contend for one lock share its grants. */
#include "lock/fair_share.h"

#include "base/os/clock.h"

enum {
    MOMENT_FIRST_NS = 300 * 1000,
    MOMENT_LEAST_NS = 50 * 1000,
    MOMENT_MOST_NS = 10 * 1000 * 1000,
    UNUSED_MAX = 8,       /* 2^8 releases pass then */
    /* The others get their turn when the balance has reached MANY, or FEW after the
     * process has had its own for long enough, and keep it until the balance is 0. */
    BALANCE_MANY = 24,
    BALANCE_FEW = 6,
    BALANCE_MAX = 30,
    OWN_TURN_NS = 5 * 1000 * 1000,
};

static struct dlock_turn *turn_of(struct dlock_turns *turns, const char *channel)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *p = channel; *p != '\0'; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return &turns->slots[hash % DLOCK_TURN_SLOTS];
}

void dlock_turns_init(struct dlock_turns *turns)
{
    for (int i = 0; i < DLOCK_TURN_SLOTS; i++) {
        turns->slots[i] = (struct dlock_turn){.moment_ns = MOMENT_FIRST_NS};
        dlock_mutex_init(&turns->slots[i].mutex);
    }
}

void dlock_turns_destroy(struct dlock_turns *turns)
{
    for (int i = 0; i < DLOCK_TURN_SLOTS; i++)
        dlock_mutex_destroy(&turns->slots[i].mutex);
}

/* ---- with the mutex held ---- */

static void move_balance(struct dlock_turn *turn, int by)
{
    int sum = turn->balance + by;

    turn->balance = sum > BALANCE_MAX    ? BALANCE_MAX
                    : sum < -BALANCE_MAX ? -BALANCE_MAX
                                         : sum;
}

static void change_moment(struct dlock_turn *turn, int64_t by_ns)
{
    int64_t sum_ns = turn->moment_ns + by_ns;

    turn->moment_ns = sum_ns > MOMENT_MOST_NS    ? MOMENT_MOST_NS
                      : sum_ns < MOMENT_LEAST_NS ? MOMENT_LEAST_NS
                                                 : sum_ns;
}

static void close_turn(struct dlock_turn *turn)
{
    turn->is_open = false;
    turn->closed_ns = dlock_clock_ns();
}

static bool is_due(const struct dlock_turn *turn, int64_t now_ns)
{
    return turn->balance >= BALANCE_MANY ||
           (turn->balance >= BALANCE_FEW && now_ns - turn->closed_ns >= OWN_TURN_NS);
}

static void note_used(struct dlock_turn *turn)
{
    turn->unused_count = 0;
    change_moment(turn, -(turn->moment_ns / 16));
}

static void note_unused(struct dlock_turn *turn)
{
    close_turn(turn);
    turn->balance = 0;
    change_moment(turn, turn->moment_ns / 4);
    if (turn->moment_ns < MOMENT_MOST_NS)
        return;
    if (turn->unused_count < UNUSED_MAX)
        turn->unused_count++;
    turn->pass_count = 1u << turn->unused_count;
}

static bool holds_back(const struct dlock_turn *turn, int64_t until_ns)
{
    int64_t now_ns = dlock_clock_ns();

    return turn->is_open && now_ns < turn->until_ns && now_ns < until_ns;
}

/* ---- for the lock ---- */

void dlock_turns_released(struct dlock_turns *turns, const char *channel,
                          int64_t other_count)
{
    struct dlock_turn *turn = turn_of(turns, channel);
    int64_t now_ns;

    if (other_count <= 0)
        return;
    now_ns = dlock_clock_ns();
    dlock_mutex_lock(&turn->mutex);
    move_balance(turn, DLOCK_TURN_OWN);
    if (turn->pass_count > 0) {
        turn->pass_count--;
    } else if (turn->is_open || is_due(turn, now_ns)) {
        turn->is_open = true;
        turn->until_ns = now_ns + turn->moment_ns;
    }
    dlock_mutex_unlock(&turn->mutex);
}

bool dlock_turns_heard(struct dlock_turns *turns, const char *channel)
{
    struct dlock_turn *turn = turn_of(turns, channel);
    bool is_enough;

    dlock_mutex_lock(&turn->mutex);
    move_balance(turn, -DLOCK_TURN_HEARD);
    if (turn->is_open && turn->balance <= 0) {
        close_turn(turn);
        note_used(turn);
    } else if (turn->is_open) {
        turn->until_ns = dlock_clock_ns() + turn->moment_ns;
    }
    is_enough = turn->held_count > 0;
    dlock_mutex_unlock(&turn->mutex);
    return is_enough;
}

bool dlock_turns_hold_back(struct dlock_turns *turns, const char *channel,
                           int64_t until_ns)
{
    struct dlock_turn *turn = turn_of(turns, channel);
    bool was_held_back = false;

    dlock_mutex_lock(&turn->mutex);
    while (holds_back(turn, until_ns)) {
        int64_t end_ns = turn->until_ns < until_ns ? turn->until_ns : until_ns;

        was_held_back = true;
        turn->held_count++;
        dlock_mutex_unlock(&turn->mutex);
        dlock_clock_sleep_until(end_ns);
        dlock_mutex_lock(&turn->mutex);
        turn->held_count--;
    }
    dlock_mutex_unlock(&turn->mutex);
    return was_held_back;
}

void dlock_turns_answered(struct dlock_turns *turns, const char *channel,
                          bool is_taken)
{
    struct dlock_turn *turn = turn_of(turns, channel);

    dlock_mutex_lock(&turn->mutex);
    if (turn->is_open && !is_taken)
        note_unused(turn);
    dlock_mutex_unlock(&turn->mutex);
}
