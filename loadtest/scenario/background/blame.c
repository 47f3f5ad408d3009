/* SPDX-License-Identifier: MIT */
/* blame.c -- the cause of a violation in the background load: a fault of the scenario,
 * this machine, or the lock. */
#include <stdio.h>
#include <string.h>

#include "loadtest/scenario/background/blame.h"

/* The properties that the background load must keep.  Liveness is left out, since it
 * depends on how soon a waiter runs; so are wake-ups, since some locks wake all waiters
 * by design. */
static const enum check_property looked_at[] = {
    CHECK_exclusion, CHECK_lease, CHECK_kept,     CHECK_ownership,
    CHECK_reentry,   CHECK_refusal, CHECK_fence, CHECK_fairness,
};

static uint32_t add_process(struct history *to, const struct history_process *process)
{
    for (size_t i = 0; i < to->process_count; i++)
        if (strcmp(to->processes[i].uuid, process->uuid) == 0)
            return (uint32_t)i;
    *history_add_process(to) = *process;
    return (uint32_t)(to->process_count - 1);
}

void background_add_faults(struct history *to, const struct history *from)
{
    for (size_t i = 0; i < from->mark_count; i++) {
        struct history_mark mark = from->marks[i];
        const char *name = from->names[mark.name];

        if (mark.kind != DLOCK_EVENT_FAULT)
            continue;
        if (mark.process < from->process_count) /* a history that was written as text has
                                                 * no process */
            mark.process = add_process(to, &from->processes[mark.process]);
        mark.name = history_name(to, name, strlen(name));
        *history_add_mark(to) = mark;
    }
    history_sort(to);
}

/* Was there a fault of a server, until then, that breaks this?  NONE: anything that a lease
 * stands on. */
static bool has_server_fault(const struct history *h, int assumption, int64_t until_ns)
{
    for (size_t i = 0; i < h->mark_count && h->marks[i].at_ns <= until_ns; i++) {
        const struct history_mark *mark = &h->marks[i];

        if (mark->kind == DLOCK_EVENT_FAULT && mark->owner == 0 &&
            mark->assumption != DLOCK_ASSUMES_NONE &&
            (assumption == DLOCK_ASSUMES_NONE || mark->assumption == assumption))
            return true;
    }
    return false;
}

/* Did the violation come from a holder that was late?  A late holder of a lock without owners
 * deletes the key of the next holder, which counts as late, too. */
static bool is_lateness(int assumption, unsigned caps)
{
    return assumption == DLOCK_ASSUMES_WORK || assumption == DLOCK_ASSUMES_WATCHDOG ||
           assumption == DLOCK_ASSUMES_PROCESS ||
           (assumption == DLOCK_ASSUMES_RELEASE && !(caps & DLOCK_CAP_OWNED));
}

/* True: the violation follows from an earlier fault of a server.  A holder that lost a
 * lock without owners deletes the key of the next holder, which then deletes the key of
 * the next, long after the fault. */
static bool is_aftermath(const struct history *h, const struct check_example *example,
                         unsigned caps)
{
    return !(caps & DLOCK_CAP_OWNED) &&
           has_server_fault(h, DLOCK_ASSUMES_NONE, example->to_ns);
}

/* The assumption that gave way, by the finding.  NONE: the finding does not name one.  A
 * finding on the order of a queue names none: the store may have lost the queue with its
 * data, or kept the place of a failed waiter. */
static int given_way(enum check_property property, const struct check_example *example)
{
    return property == CHECK_fairness ? DLOCK_ASSUMES_NONE : example->assumption;
}

static enum background_blame blame_of(const struct history *h, enum check_property property,
                                      const struct check_example *example, unsigned caps)
{
    if (has_server_fault(h, given_way(property, example), example->to_ns) ||
        is_aftermath(h, example, caps))
        return BACKGROUND_CLEAN;
    return is_lateness(example->assumption, caps) ? BACKGROUND_MACHINE : BACKGROUND_LOCK;
}

enum background_blame background_blame_of(const struct history *h, const struct check_verdict *v,
                                          unsigned caps, char *why, size_t size)
{
    enum background_blame worst = BACKGROUND_CLEAN;

    for (size_t i = 0; i < sizeof looked_at / sizeof looked_at[0]; i++) {
        const struct check_finding *finding = &v->findings[looked_at[i]];

        if (finding->valid != VERDICT_INVALID)
            continue;
        for (size_t j = 0; j < finding->example_count; j++) {
            const struct check_example *example = &finding->examples[j];
            enum background_blame blame = blame_of(h, looked_at[i], example, caps);

            if (blame <= worst)
                continue;
            worst = blame;
            snprintf(why, size, "the background load: %s: %s", check_property_name(looked_at[i]),
                     example->text);
        }
    }
    return worst;
}
