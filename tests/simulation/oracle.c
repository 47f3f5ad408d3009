/* SPDX-License-Identifier: MIT */
/* oracle.c -- tracks the holds and waits of the whole workload, and finds forbidden
 * states. */
#include "tests/simulation/oracle.h"

#include <inttypes.h>
#include <string.h>

#include "tests/simulation/os.h"

enum { LOOK_MS = 20 };

enum standing { ASKS, HOLDS, ABANDONED };

static struct entry {
    struct oracle_hold hold; /* first in the struct, so that a hold can be cast to its entry */
    enum standing standing;
    uint64_t highest;        /* the highest fence when it asked */
    int64_t asked_ns;
    int64_t until_ns;        /* the end of the lease of an abandoned hold */
} entries[ORACLE_HOLDS_MAX];

static uint64_t highest_fence[NAMES_MAX];
static int force_count[NAMES_MAX]; /* releases by force that are under way */
static unsigned begun_count[NAMES_MAX]; /* releases by force that have begun */
static int64_t free_since_ns[NAMES_MAX]; /* -1: the lock is held */
static struct event look;

bool oracle_is_valid(const struct process *process, const dlock_lease *lease)
{
    bool is_valid;

    task_held_fast++;
    os_clock_of = (struct site *)(uintptr_t)&process->site;
    is_valid = dlock_lease_valid(process->sys, lease);
    os_clock_of = NULL;
    task_held_fast--;
    return is_valid;
}

static bool is_held(const struct entry *entry)
{
    if (!entry->hold.is_used || entry->standing == ASKS || entry->hold.is_forced)
        return false;
    return entry->standing == ABANDONED
               ? world.now_ns < entry->until_ns
               : oracle_is_valid(entry->hold.process, &entry->hold.lease);
}

/* A thread that has abandoned a lock asks as another owner, so the owners are compared too. */
static bool are_of_one_owner(const struct oracle_hold *a, const struct oracle_hold *b)
{
    return a->task == b->task && strcmp(a->lease.owner, b->lease.owner) == 0;
}

/* May both holds exist at once? Yes, if they have one owner, or if both are readers. */
static bool may_be_together(const struct oracle_hold *a, const struct oracle_hold *b)
{
    return a->name != b->name || are_of_one_owner(a, b) || (a->lease.shared && b->lease.shared);
}

/* ---- the server ---- */

static bool begins_with(struct bytes text, const char *begin)
{
    size_t len = strlen(begin);

    return text.len >= len && memcmp(text.at, begin, len) == 0;
}

static bool server_holds(const struct oracle_hold *hold)
{
    struct model *model = &servers[0].model;
    const char *name = workload.names[hold->name];
    struct bytes key_name = {(char *)(uintptr_t)name, strlen(name)};
    const struct key *key = keys_find(&model->keys, key_name, model_now_ms(model));

    if (key == NULL)
        return false;
    if (key->kind == STRING)
        return begins_with(key->string, hold->lease.token);
    for (size_t i = 0; i < key->count; i++)
        if (begins_with(key->parts[i].name, hold->lease.owner))
            return true;
    return false;
}

/* Check that each valid lease is also held by the server, by the data and the clock of the
 * server. */
static void look_at_server(void)
{
    unsigned needed = DLOCK_CAP_ATOMIC | DLOCK_CAP_OWNED | DLOCK_CAP_RENEW;

    if ((workload.variant->caps & needed) != needed || server_count > 1 ||
        workload.class == CLASS_STORE || workload.class == CLASS_CLOCK)
        return;
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++)
        if (entries[i].standing == HOLDS && is_held(&entries[i]) &&
            !server_holds(&entries[i].hold))
            world_condemn(UNHELD, "the lease of %s in process %d is valid, and the server does "
                          "not hold %s for it", entries[i].hold.lease.owner,
                          entries[i].hold.process->site.number,
                          workload.names[entries[i].hold.name]);
}

void oracle_look(void)
{
    look_at_server();
    if (!(workload.variant->caps & DLOCK_CAP_EXCLUSIVE))
        return;
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++) {
        if (!is_held(&entries[i]))
            continue;
        for (size_t j = 0; j < i; j++)
            if (!may_be_together(&entries[i].hold, &entries[j].hold) && is_held(&entries[j]))
                world_condemn(OVERLAP, "%s is held by %s in process %d and by %s in process %d",
                              workload.names[entries[i].hold.name], entries[i].hold.lease.owner,
                              entries[i].hold.process->site.number,
                              entries[j].hold.lease.owner,
                              entries[j].hold.process->site.number);
    }
}

static struct entry *entry_of(struct oracle_hold *hold)
{
    return (struct entry *)(void *)hold;
}

struct oracle_hold *oracle_ask(struct process *process, int name)
{
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++) {
        struct entry *entry = &entries[i];

        if (entry->hold.is_used &&
            !(entry->standing == ABANDONED && entry->until_ns <= world.now_ns))
            continue;
        *entry = (struct entry){.hold = {true, process, task_here, name, force_count[name] > 0,
                                         {.fence = 0}},
                                .standing = ASKS,
                                .highest = highest_fence[name],
                                .asked_ns = world.now_ns};
        return &entry->hold;
    }
    world_condemn(NOT_KNOWN, "the workload has more holds than the oracle has room for");
    return &entries[0].hold;
}

/* Does the thread already hold the name? */
static bool is_inner(const struct oracle_hold *hold)
{
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++)
        if (entries[i].hold.is_used && &entries[i].hold != hold &&
            entries[i].standing == HOLDS && entries[i].hold.task == hold->task &&
            entries[i].hold.name == hold->name)
            return true;
    return false;
}

void oracle_granted(struct oracle_hold *hold, const dlock_lease *lease)
{
    struct entry *entry = entry_of(hold);
    bool is_fenced = workload.variant->caps & DLOCK_CAP_FENCED;

    entry->standing = HOLDS;
    hold->lease = *lease;
    if (is_fenced && !is_inner(hold) && lease->fence <= entry->highest)
        world_condemn(FENCE, "%s has the fence %" PRIu64 ", and %" PRIu64 " was handed out before",
                      lease->owner, lease->fence, entry->highest);
    if (lease->fence > highest_fence[hold->name])
        highest_fence[hold->name] = lease->fence;
    oracle_look();
}

void oracle_refused(struct oracle_hold *hold)
{
    hold->is_used = false;
}

void oracle_leave(struct oracle_hold *hold)
{
    oracle_look();
    hold->is_used = false;
}

static void exempt(int name)
{
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++)
        if (entries[i].hold.is_used && entries[i].hold.name == name)
            entries[i].hold.is_forced = true;
}

void oracle_begin_force(int name)
{
    force_count[name]++;
    begun_count[name]++;
    exempt(name);
}

unsigned oracle_count_forces(int name)
{
    return begun_count[name];
}

void oracle_end_force(int name)
{
    force_count[name]--;
    exempt(name);
}

bool oracle_is_forced(const dlock_lease *lease)
{
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++)
        if (entries[i].hold.is_used && entries[i].hold.is_forced &&
            strcmp(entries[i].hold.lease.token, lease->token) == 0)
            return true;
    return false;
}

void oracle_abandon(struct oracle_hold *hold)
{
    const struct site *site = &hold->process->site;
    struct entry *entry = entry_of(hold);
    int64_t left_ms;

    oracle_look();
    task_held_fast++;
    left_ms = dlock_lease_left_ms(hold->process->sys, &hold->lease);
    task_held_fast--;
    entry->standing = ABANDONED;
    /* The library rounds up, and counts the lease by the clock of its process. */
    entry->until_ns = site_world_ns(site, site_clock_ns(site) + (left_ms - 2) * MS);
}

void oracle_forget(const struct process *process)
{
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++)
        if (entries[i].hold.process == process)
            entries[i].hold.is_used = false;
}

/* ---- free locks ---- */

static bool is_free(const char *name)
{
    struct bytes key = {(char *)(uintptr_t)name, strlen(name)};

    for (int i = 0; i < server_count; i++)
        if (keys_find(&servers[i].model.keys, key, model_now_ms(&servers[i].model)) != NULL)
            return false;
    return true;
}

static bool waits_since(int name, int64_t since_ns)
{
    for (size_t i = 0; i < ORACLE_HOLDS_MAX; i++)
        if (entries[i].hold.is_used && entries[i].standing == ASKS &&
            entries[i].hold.name == name && entries[i].asked_ns <= since_ns)
            return true;
    return false;
}

static void look_around(void *arg)
{
    int64_t long_ago_ns = world.now_ns - ORACLE_FREE_MS * MS;

    (void)arg;
    oracle_look();
    for (int i = 0; i < workload.name_count && world.is_calm; i++) {
        if (!is_free(workload.names[i]))
            free_since_ns[i] = -1;
        else if (free_since_ns[i] < 0)
            free_since_ns[i] = world.now_ns;
        else if (free_since_ns[i] <= long_ago_ns && waits_since(i, long_ago_ns))
            world_condemn(ASLEEP, "%s has been free for %d ms, and somebody waits for it",
                          workload.names[i], ORACLE_FREE_MS);
    }
    event_plan(&look, world.now_ns + LOOK_MS * MS);
}

void oracle_begin(void)
{
    for (int i = 0; i < NAMES_MAX; i++)
        free_since_ns[i] = -1;
    look = (struct event){.run = look_around};
    event_plan(&look, LOOK_MS * MS);
}
