/* SPDX-License-Identifier: MIT */
/* judge.c -- judges every property for every lock, and makes the verdict. */
#include "loadtest/check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/memory.h"
#include "lock/store.h"

enum {
    SLACK_MS = 50,
    PATIENCE_MS = 1200,
    LINGER_MS = 2000,      /* a tick of ZooKeeper's servers, as in its sample configuration */
    SESSION_TICKS_MIN = 2, /* the shortest session of theirs                               */
};

enum { PARTS, WHOLE };

static const struct property {
    const char *name, *text, *nothing;
    unsigned caps;
    int needs;
    void (*look)(struct check *c);
} properties[] = {
#define CHECK(name, caps, whole, text) \
    {#name, text, "the run has nothing for the property " #name " to judge", caps, whole, \
     check_##name},
#include "loadtest/check/checks.def"
#undef CHECK
};

struct check_options check_options_default(void)
{
    struct check_options options = {.slack_ns = SLACK_MS * DLOCK_NS_PER_MS,
                                    .patience_ns = PATIENCE_MS * DLOCK_NS_PER_MS,
                                    .linger_ns = LINGER_MS * DLOCK_NS_PER_MS};

    return options;
}

struct check *check_new(void)
{
    return memory_need(calloc(1, sizeof(struct check)));
}

void check_free(struct check *c)
{
    if (c == NULL)
        return;
    free(c->by_name);
    free(c->by_owner);
    free(c->group_of);
    free(c->groups);
    free(c->holds);
    free(c->refusals);
    free(c->times);
    free(c->is_confused);
    free(c->asks_nodes);
    free(c->linger_ns);
    free(c->marks);
    free(c->faults);
    free(c->ghosts);
    free(c);
}

/* A session of ZooKeeper ends after a timeout without a sign of life, at its server's next
 * tick.  A connection to PostgreSQL ends with its process. */
static int64_t linger_of(const struct check *c, const dlock_variant_info *lock,
                         int64_t lease_ns)
{
    int64_t linger_ns = c->options->linger_ns;

    if (lock == NULL)
        return 0;
    switch (dlock_store_of(lock)) {
    case DLOCK_STORE_ZOOKEEPER:
        return greatest(lease_ns, SESSION_TICKS_MIN * linger_ns) + linger_ns;
    case DLOCK_STORE_ETCD:
        return linger_ns;
    default:
        return 0;
    }
}

/* Keep for each process what its variant implies, because finding a variant by its name takes
 * longer than reading a call. */
static void note_processes(struct check *c)
{
    size_t count = c->h->process_count;

    MEMORY_ROOM(c->asks_nodes, 0, count, c->process_room);
    MEMORY_ROOM(c->linger_ns, 0, count, c->linger_room);
    for (size_t i = 0; i < count; i++) {
        const struct history_process *process = &c->h->processes[i];
        const dlock_variant_info *lock = dlock_variant_find(process->variant);

        c->asks_nodes[i] = (process->caps & DLOCK_CAP_QUORUM) ||
                           (lock != NULL && dlock_store_of(lock) == DLOCK_STORE_REDIS_NODES);
        c->linger_ns[i] = linger_of(c, lock, process->lease_ns);
    }
}

static void begin(struct check *c, const struct history *h,
                  const struct check_options *options, struct check_verdict *out)
{
    memset(out, 0, sizeof(*out));
    c->h = h;
    c->options = options;
    c->out = out;
    c->end_ns = HISTORY_NEVER;
    c->has_holes = h->damage_count > 0;
    for (size_t i = 0; i < h->process_count; i++)
        if (h->processes[i].dropping_ns < c->end_ns)
            c->end_ns = h->processes[i].dropping_ns;
    MEMORY_ROOM(c->is_confused, 0, h->name_count, c->name_room);
    for (size_t i = 0; i < h->name_count; i++)
        c->is_confused[i] = false;
    note_processes(c);
    c->lock = (struct lock_view){0};
    c->cause = NO_CALL;
    c->explained_count = 0;
    check_sort_marks(c);
}

static void count_faults(struct check *c)
{
    for (size_t i = 0; i < c->h->mark_count; i++)
        c->out->faults += c->h->marks[i].kind == DLOCK_EVENT_FAULT &&
                          history_takes_effect(&c->h->marks[i]);
}

static void count_lock(struct check *c)
{
    struct check_verdict *out = c->out;

    out->names += c->lock.call_count > 0;
    out->calls += (int64_t)c->lock.call_count;
    out->unanswered += c->lock.open_count;
    out->holds += c->lock.granted_count;
}

/* The properties permits and latch are not for locks; a name of permits or of a latch has only this
 * one property. */
static bool is_about(const struct check *c, size_t property)
{
    if (c->lock.only >= 0)
        return (size_t)c->lock.only == property;
    return property != CHECK_permits && property != CHECK_latch;
}

static void look_at_lock(struct check *c)
{
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct property *property = &properties[i];

        if (i == CHECK_orders || /* which is about no lock */
            !is_about(c, i) ||
            (property->caps != 0 && !(property->caps & c->lock.caps)))
            continue;
        if (c->options->only == 0 || c->options->only & 1u << i)
            c->out->findings[i].is_claimed = true;
        if (i != CHECK_kept)
            property->look(c);
    }
}

/* NULL: the run has a case for one of the properties that were chosen, or all were chosen. */
static const char *nothing_judged(const struct check *c)
{
    const char *nothing = NULL;

    for (size_t i = 0; i < CHECK_COUNT; i++) {
        if (!(c->options->only & 1u << i))
            continue;
        if (c->out->findings[i].looked > 0)
            return NULL;
        nothing = properties[i].nothing;
    }
    return nothing;
}

/* The log of the resource is not there, so the properties that are judged by it are not judged. */
static void note_no_writes(struct check *c)
{
    static const enum check_property by_writes[] = {CHECK_resource, CHECK_orders};

    for (size_t i = 0; i < sizeof(by_writes) / sizeof(by_writes[0]); i++) {
        struct check_finding *finding = &c->out->findings[by_writes[i]];

        if (c->options->only != 0 && !(c->options->only & 1u << by_writes[i]))
            continue;
        finding->is_claimed = true;
        finding->why_unknown = c->options->why_no_writes;
    }
}

static void settle_findings(struct check *c)
{
    struct check_verdict *out = c->out;

    for (size_t i = 0; i < CHECK_COUNT; i++) {
        struct check_finding *finding = &out->findings[i];

        if (finding->count > 0 && c->has_holes && properties[i].needs == WHOLE) {
            finding->valid = VERDICT_UNKNOWN;
            finding->why_unknown = "it cannot be told from a history with holes";
        } else if (finding->count > 0) {
            finding->valid = VERDICT_INVALID;
        } else if (finding->unsure > 0 ||
                   (finding->is_claimed && finding->why_unknown != NULL)) {
            finding->valid = VERDICT_UNKNOWN;
        }
        if (finding->valid > out->valid) {
            out->valid = finding->valid;
            out->why_unknown = finding->why_unknown;
        }
    }
}

static void settle(struct check *c)
{
    struct check_verdict *out = c->out;
    const char *nothing = nothing_judged(c);

    settle_findings(c);
    if (out->valid == VERDICT_INVALID) {
        out->why_unknown = NULL;
    } else if (c->has_holes) { /* the hole may be why the rest says too little */
        out->valid = VERDICT_UNKNOWN;
        out->why_unknown = c->h->damages[0];
    } else if (out->holds == 0) {
        out->valid = VERDICT_UNKNOWN;
        out->why_unknown = "nobody was ever granted a lock";
    } else if (out->overlap[0] != '\0') {
        out->valid = VERDICT_UNKNOWN;
        out->why_unknown = out->overlap;
    } else if (out->valid == VERDICT_VALID && nothing != NULL) {
        out->valid = VERDICT_UNKNOWN;
        out->why_unknown = nothing;
    }
}

void check_judge(struct check *c, const struct history *h,
                 const struct check_options *options, struct check_verdict *out)
{
    struct lock_cursor at = {0};

    begin(c, h, options, out);
    check_build(c);
    count_faults(c);
    while (check_next_lock(c, &at)) {
        count_lock(c);
        /* `kept` comes first, because it shortens the holds whose loss is known. */
        check_kept(c);
        look_at_lock(c);
    }
    c->lock.is_confused = false;
    if (options->only == 0 || options->only & 1u << CHECK_orders)
        check_orders(c);
    if (options->why_no_writes != NULL)
        note_no_writes(c);
    settle(c);
}

const char *check_property_name(size_t property)
{
    return property < CHECK_COUNT ? properties[property].name : NULL;
}

const char *check_property_text(size_t property)
{
    return properties[property].text;
}
