/* SPDX-License-Identifier: MIT */
/* test_check_search.c -- compares the checker with a search, on random small histories.
 *
 * The search knows nothing of the checker's intervals. It has a model of a correct lock, and tries
 * every order in which the calls may have happened between their invocation and their answer, every
 * moment at which a lease may have ended after its time, and for each call without an answer
 * whether it ever happened. A history that no such order explains is bad, and the checker has to
 * give the same verdict.
 *
 * CHECK_SEED and CHECK_COUNT choose other histories than the usual ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "loadtest/check/check.h"
#include "tests/unit/check_search.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNT_DEFAULT = 100000 };
#else
enum { COUNT_DEFAULT = 1200000 };
#endif

enum {
    OWNERS_MAX = 3,
    LEASE_MAX = 24,
};

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 33) % below);
}

static bool chance(unsigned percent)
{
    return draw(100) < percent;
}

/* --- random histories ------------------------------------------------------------ */

/* The state that the generator believes an owner to have: mostly a possible one, and often enough a
 * wrong one. */
struct actor {
    uint64_t owner;
    int depth[2];            /* by the index of the name */
    int64_t deadline[2];
    uint64_t fence[2];
    int call, renewal;       /* the calls under way; -1: none */
    uint32_t name;           /* of the call         */
    bool is_overlapped;      /* a renewal began while the call was under way */
};

struct maker {
    struct history *h;
    unsigned caps;
    struct actor actors[OWNERS_MAX];
    int actor_count, name_count, call_count;
    uint64_t next_owner;
    uint64_t fence;
    int64_t now;
};

static bool is_free(const struct maker *m, const struct actor *asks, uint32_t name)
{
    for (int i = 0; i < m->actor_count; i++) {
        const struct actor *actor = &m->actors[i];

        if (actor != asks && actor->depth[name] > 0 && actor->deadline[name] > m->now)
            return false;
    }
    return true;
}

static int64_t draw_deadline(const struct maker *m)
{
    if (!(m->caps & DLOCK_CAP_EXPIRES) || chance(15))
        return HISTORY_NEVER;
    return m->now + 1 + 2 * draw(LEASE_MAX / 2);
}

static struct history_call *start(struct maker *m, struct actor *actor, uint8_t kind)
{
    struct history_call *call = history_add_call(m->h);

    call->kind = kind;
    call->owner = actor->owner;
    call->name = actor->name;
    call->invoke_ns = m->now;
    return call;
}

static void begin(struct maker *m, struct actor *actor)
{
    unsigned kind = draw(100);
    int depth;

    actor->name = draw((unsigned)m->name_count);
    depth = actor->depth[actor->name];
    if (depth > 0 && actor->renewal < 0 && (m->caps & DLOCK_CAP_OWNED) && kind < 25) {
        actor->renewal = (int)m->h->call_count;
        actor->is_overlapped = true;
        start(m, actor, DLOCK_EVENT_RENEW);
    } else if (actor->call < 0 && actor->renewal < 0 && depth > 0 && kind < 30) {
        start(m, actor, DLOCK_EVENT_ABANDON)->is_answered = true;
        m->h->calls[m->h->call_count - 1].answer_ns = m->now + 1;
        actor->owner = ++m->next_owner;
        actor->depth[0] = actor->depth[1] = 0;
    } else if (actor->call < 0 && (depth > 0 ? kind < 75 : kind < 6)) {
        actor->call = (int)m->h->call_count;
        start(m, actor, DLOCK_EVENT_RELEASE);
    } else if (actor->call < 0 && actor->renewal < 0) {
        actor->call = (int)m->h->call_count;
        actor->is_overlapped = false;
        start(m, actor, DLOCK_EVENT_ACQUIRE);
    } else {
        return;
    }
    m->call_count--;
}

static void end_acquire(struct maker *m, struct actor *actor, struct history_call *call)
{
    bool is_reentrant = m->caps & DLOCK_CAP_REENTRANT;
    int *depth = &actor->depth[call->name];
    bool again = is_reentrant && *depth > 0 && actor->deadline[call->name] > m->now;
    bool granted = is_free(m, actor, call->name) && (is_reentrant || *depth == 0);

    call->status = granted ? DLOCK_OK : draw(2) ? DLOCK_BUSY : DLOCK_TIMEOUT;
    if (chance(12))
        call->status = draw(2) ? DLOCK_OK : DLOCK_BUSY;
    if (chance(12))
        call->status = DLOCK_UNKNOWN;
    /* The records do not show which hold such a renewal has found, so the checker does not
     * guess. */
    if (call->status == DLOCK_OK && actor->is_overlapped && !again)
        call->status = DLOCK_UNKNOWN;
    if (call->status != DLOCK_OK)
        return;
    *depth = again ? *depth + 1 : 1;
    call->level = actor->is_overlapped || chance(97) ? *depth : 1 + (int)draw(3);
    call->deadline_ns = draw_deadline(m);
    if (!again || call->deadline_ns > actor->deadline[call->name])
        actor->deadline[call->name] = call->deadline_ns;
    if (m->caps & DLOCK_CAP_FENCED) {
        if (!again)
            actor->fence[call->name] = chance(93) ? ++m->fence : draw(4);
        call->fence = chance(97) ? actor->fence[call->name] : draw(4);
    }
}

static void end_release(struct maker *m, struct actor *actor, struct history_call *call)
{
    int *depth = &actor->depth[call->name];
    bool is_held = *depth > 0 && actor->deadline[call->name] > m->now;

    call->status = is_held || chance(30) ? DLOCK_OK : DLOCK_LOST;
    if (chance(7))
        call->status = draw(2) ? DLOCK_OK : DLOCK_LOST;
    if (*depth <= 1 && chance(12))
        call->status = DLOCK_UNKNOWN;
    *depth = call->status == DLOCK_LOST || *depth == 0 ? 0 : *depth - 1;
}

static void end_renewal(struct maker *m, struct actor *actor, struct history_call *call)
{
    bool is_held =
        actor->depth[call->name] > 0 && actor->deadline[call->name] > m->now;

    call->status = is_held || chance(30) ? DLOCK_OK : DLOCK_LOST;
    if (chance(7))
        call->status = draw(2) ? DLOCK_OK : DLOCK_LOST;
    if (chance(10))
        call->status = DLOCK_UNKNOWN;
    if (call->status == DLOCK_LOST)
        actor->depth[call->name] = 0;
    if (call->status != DLOCK_OK)
        return;
    call->deadline_ns = draw_deadline(m);
    if (call->deadline_ns > actor->deadline[call->name])
        actor->deadline[call->name] = call->deadline_ns;
}

static void end(struct maker *m, struct actor *actor, int *under_way)
{
    struct history_call *call = &m->h->calls[*under_way];
    bool retires;

    *under_way = -1;
    call->is_answered = true;
    call->answer_ns = m->now;
    if (call->kind == DLOCK_EVENT_ACQUIRE)
        end_acquire(m, actor, call);
    else if (call->kind == DLOCK_EVENT_RELEASE)
        end_release(m, actor, call);
    else
        end_renewal(m, actor, call);
    retires = call->kind == DLOCK_EVENT_RELEASE && call->status == DLOCK_UNKNOWN;
    if (retires) {
        actor->owner = ++m->next_owner;
        actor->depth[0] = actor->depth[1] = 0;
    }
}

static unsigned draw_caps(void)
{
    unsigned caps = DLOCK_CAP_EXCLUSIVE;

    caps |= chance(85) ? DLOCK_CAP_EXPIRES : DLOCK_CAP_SESSION;
    if (chance(80))
        caps |= DLOCK_CAP_OWNED | DLOCK_CAP_RENEW;
    if ((caps & DLOCK_CAP_OWNED) && chance(50))
        caps |= DLOCK_CAP_REENTRANT;
    else if (chance(30))
        caps |= DLOCK_CAP_QUORUM;
    if (chance(40))
        caps |= DLOCK_CAP_FENCED;
    return caps;
}

static void make_history(struct history *h)
{
    struct maker m = {.h = h, .caps = draw_caps(), .now = 2};
    struct history_process *process;

    history_clear(h);
    process = history_add_process(h);
    process->caps = m.caps;
    process->last_ns = HISTORY_NEVER;
    process->is_closed = true;
    m.actor_count = 1 + (int)draw(OWNERS_MAX);
    m.name_count = chance(85) ? 1 : 2;
    m.call_count = 2 + (int)draw(CALLS_MAX - 1);
    for (int i = 0; i < m.actor_count; i++)
        m.actors[i] =
            (struct actor){.owner = ++m.next_owner, .call = -1, .renewal = -1};
    for (int steps = 0; steps < 4 * CALLS_MAX; steps++, m.now += 2) {
        struct actor *actor = &m.actors[draw((unsigned)m.actor_count)];

        if (actor->renewal >= 0 && chance(50))
            end(&m, actor, &actor->renewal);
        else if (actor->call >= 0 && chance(70))
            end(&m, actor, &actor->call);
        else if (m.call_count > 0)
            begin(&m, actor);
    }
    history_sort(h);
}

/* --- the comparison ------------------------------------------------------------- */

static void show(const struct history *h)
{
    printf("# system p1 caps=");
    for (unsigned bit = 0; bit < 16; bit++)
        if (h->processes[0].caps & 1u << bit)
            printf("%s,", history_cap_name(1u << bit));
    printf("\n");
    for (size_t i = 0; i < h->call_count; i++) {
        const struct history_call *call = &h->calls[i];
        static const char *const kinds[] = {"",      "",        "",       "acquire",
                                            "renew", "release", "abandon"};

        printf("# %2lld p1 t%llu %s %s ->", (long long)call->invoke_ns,
               (unsigned long long)call->owner, kinds[call->kind],
               h->names[call->name]);
        if (!call->is_answered)
            printf(" ?\n");
        else if (call->status == DLOCK_OK && call->deadline_ns != HISTORY_NEVER)
            printf(" %lld ok level=%d fence=%llu until=%lld\n",
                   (long long)call->answer_ns, call->level,
                   (unsigned long long)call->fence, (long long)call->deadline_ns);
        else
            printf(" %lld %s level=%d fence=%llu\n", (long long)call->answer_ns,
                   dlock_status_id(call->status), call->level,
                   (unsigned long long)call->fence);
    }
}

/* Judge only properties that the search judges too: no overrun leases, and no liveness. */
static bool checker_accepts(struct check *c, const struct history *h)
{
    struct check_options options = check_options_default();
    struct check_verdict verdict;

    options.only = 1u << CHECK_exclusion | 1u << CHECK_kept | 1u << CHECK_ownership |
                   1u << CHECK_reentry | 1u << CHECK_refusal | 1u << CHECK_fence;
    check_judge(c, h, &options, &verdict);
    return verdict.valid != VERDICT_INVALID;
}

/* Remove calls as long as the two verdicts differ. */
static void shrink(struct check *c, struct history *h)
{
    for (size_t i = 0; i < h->call_count;) {
        struct history_call left_out = h->calls[i];

        memmove(&h->calls[i], &h->calls[i + 1],
                (h->call_count - i - 1) * sizeof(h->calls[0]));
        h->call_count--;
        if (checker_accepts(c, h) != search_explains(h)) {
            i = 0;
            continue;
        }
        memmove(&h->calls[i + 1], &h->calls[i],
                (h->call_count - i) * sizeof(h->calls[0]));
        h->calls[i++] = left_out;
        h->call_count++;
    }
}

static long from_environment(const char *name, long fallback)
{
    const char *text = getenv(name);

    return text != NULL ? atol(text) : fallback;
}

static void the_checker_agrees_with_a_search_over_all_orders(void **unused)
{
    long count = from_environment("CHECK_COUNT", COUNT_DEFAULT), bad_count = 0;
    long seed = from_environment("CHECK_SEED", 20240601);
    struct check *c = check_new();
    struct history h = {0};

    (void)unused;
    history_name(&h, "a", 1);
    history_name(&h, "b", 1);
    for (long i = 0; i < count; i++) {
        bool accepted, explained;

        random_state = (uint64_t)(seed + i) * UINT64_C(0x9e3779b97f4a7c15) + 1;
        draw(2);
        make_history(&h);
        accepted = checker_accepts(c, &h);
        explained = search_explains(&h);
        bad_count += !explained;
        if (accepted == explained)
            continue;
        shrink(c, &h);
        printf("# CHECK_SEED=%ld: the checker says %s, the search %s\n", seed + i,
               accepted ? "good" : "bad", explained ? "good" : "bad");
        show(&h);
        fail();
    }
    printf("# %ld histories, %ld of them bad; seed %ld\n", count, bad_count, seed);
    assert_in_range(bad_count, count / 5, count / 5 * 4);
    history_free(&h);
    check_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checker_agrees_with_a_search_over_all_orders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
