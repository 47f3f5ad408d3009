/* SPDX-License-Identifier: MIT */
/* laws_shared_model.c -- random calls of readers and writers, compared with a model.
 *
 * The model has two numbers for each owner. A reader's hold can also end as if by its lease: the
 * test deletes its keys, and the reader comes back as another owner, as it does in the core. */
#include "tests/conformance/laws.h"
#include "tests/conformance/slots.h"

enum { OWNERS = 3, GAMES = 12, MOVES = 250, LEASE_MS = 60000, LEVELS_MAX = 4 };

struct player {
    struct slot_claim claim;
    int levels[2]; /* as a writer, as a reader */
};

struct game {
    const struct slots *slots;
    const char *name;
    struct player players[OWNERS];
    uint32_t dice;
    dlock_status st; /* of the last call */
};

static unsigned roll(struct game *game, unsigned sides)
{
    game->dice = game->dice * 1664525u + 1013904223u;
    return (game->dice >> 16) % sides;
}

static int others_levels(const struct game *game, const struct player *me, int kind)
{
    int sum = 0;

    for (int i = 0; i < OWNERS; i++)
        sum += &game->players[i] == me ? 0 : game->players[i].levels[kind];
    return sum;
}

static int all_levels(const struct game *game)
{
    return others_levels(game, NULL, 0) + others_levels(game, NULL, 1);
}

static bool may_enter(const struct game *game, const struct player *me, int kind)
{
    if (kind == 1)
        return others_levels(game, me, 0) == 0;
    return me->levels[0] > 0 || all_levels(game) == 0;
}

static dlock_status ask(struct game *game, struct player *me, int kind, int level,
                        dlock_status (*slot)(const struct slots *, struct slot_claim *))
{
    me->claim.claim.shared = kind == 1;
    me->claim.claim.level = level;
    game->st = slot(game->slots, &me->claim);
    return game->st;
}

static dlock_status give(const struct slots *slots, struct slot_claim *claim)
{
    return slots_release(slots, claim);
}

static dlock_status renew(const struct slots *slots, struct slot_claim *claim)
{
    return slots->variant->renew(slots->state, &claim->claim);
}

static void enter(struct game *game, struct player *me, int kind)
{
    int level = me->levels[kind] + 1;

    if (level > LEVELS_MAX)
        return;
    if (!may_enter(game, me, kind)) {
        assert_status(BUSY, ask(game, me, kind, level, slots_try));
        return;
    }
    for (unsigned sent = roll(game, 3) == 0 ? 2 : 1; sent > 0; sent--)
        assert_status(OK, ask(game, me, kind, level, slots_try));
    me->levels[kind]++;
}

static void leave(struct game *game, struct player *me, int kind)
{
    int level = me->levels[kind];

    if (level == 0) {
        assert_status(LOST, ask(game, me, kind, 1, give));
        return;
    }
    assert_status(OK, ask(game, me, kind, level, give));
    me->levels[kind]--;
    /* This request, or an earlier one, arrives again and must change nothing. */
    if (roll(game, 3) == 0)
        (void)ask(game, me, kind, level + (int)roll(game, 3), give);
}

static void forget(struct game *game, struct player *me)
{
    slots_claim(game->slots, &me->claim, game->name);
    me->claim.claim.lease_ms = LEASE_MS;
    me->levels[0] = me->levels[1] = 0;
}

/* Only for an owner that is no writer: the writer's lease is the lease of the whole lock. */
static void end_by_lease(struct game *game, struct player *me)
{
    if (me->levels[0] > 0 || me->levels[1] == 0)
        return;
    for (int level = 1; level <= me->levels[1]; level++)
        servers_ask(0, "DEL {%s}:%s:rwlock_timeout:%d", game->name, me->claim.owner,
                    level);
    if (others_levels(game, me, 1) == 0)
        servers_ask(0, "DEL %s", game->name);
    else
        assert_status(LOST, ask(game, me, 1, 1, roll(game, 2) ? renew : give));
    forget(game, me);
}

static void force(struct game *game)
{
    game->st = game->slots->variant->force(game->slots->state, game->name);
    assert_int_equal(all_levels(game) > 0 ? DLOCK_OK : DLOCK_LOST, game->st);
    assert_int_equal(0, servers_ask(0, "DBSIZE"));
    for (int i = 0; i < OWNERS; i++)
        forget(game, &game->players[i]);
}

static void compare(struct game *game)
{
    dlock_info info;
    int readers = 0;

    for (int i = 0; i < OWNERS; i++)
        readers += game->players[i].levels[1] > 0;
    game->st = game->slots->variant->inspect(game->slots->state, game->name, &info);
    assert_status(OK, game->st);
    assert_int_equal(all_levels(game) > 0, info.locked);
    assert_int_equal(readers > 0 && others_levels(game, NULL, 0) == 0, info.shared);
    assert_int_equal(info.shared ? readers : 0, info.reader_count);
    if (readers <= 1 || !info.shared)
        assert_int_equal(others_levels(game, NULL, info.shared), info.hold_count);
    if (info.locked)
        assert_true(info.left_ms > LEASE_MS / 2);
}

static void move(struct game *game)
{
    struct player *me = &game->players[roll(game, OWNERS)];
    int kind = (int)roll(game, 2);
    unsigned what = roll(game, 20);

    if (what < 8)
        enter(game, me, kind);
    else if (what < 16)
        leave(game, me, kind);
    else if (what < 18)
        assert_int_equal(me->levels[kind] > 0 ? DLOCK_OK : DLOCK_LOST,
                         ask(game, me, kind, 1, renew));
    else if (what < 19 || roll(game, 4) > 0)
        end_by_lease(game, me);
    else
        force(game);
}

void readers_and_writers_do_as_their_model(const char *variant)
{
    dlock_options opts = rig_options(variant);
    const struct slots *slots;

    opts.lease_ms = LEASE_MS;
    servers_start(&opts);
    slots = slots_open(&opts);
    for (uint32_t seed = 1; seed <= GAMES; seed++) {
        struct game game = {.slots = slots, .name = rig_name(), .dice = seed};

        for (int i = 0; i < OWNERS; i++)
            forget(&game, &game.players[i]);
        for (int i = 0; i < MOVES; i++) {
            move(&game);
            compare(&game);
        }
        servers_tell(0, "FLUSHALL");
    }
}
