/* SPDX-License-Identifier: MIT */
/* blame.c -- whose doing it is when a crowd was not clean. */
#include <stdio.h>
#include <string.h>

#include "loadtest/scenario/background/blame.h"

/* Not what depends on how soon a waiter gets to run (liveness), nor how many wake up, for
 * which there are locks that are meant to herd, nor what a crowd does not do. */
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

void crowd_add_faults(struct history *to, const struct history *from)
{
    for (size_t i = 0; i < from->mark_count; i++) {
        struct history_mark mark = from->marks[i];
        const char *name = from->names[mark.name];

        if (mark.kind != DLOCK_EVENT_FAULT)
            continue;
        if (mark.process < from->process_count) /* one from a text has none */
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

/* A lock without owners deletes whatever stands there once its holder was late. */
static bool is_lateness(int assumption, unsigned caps)
{
    return assumption == DLOCK_ASSUMES_WORK || assumption == DLOCK_ASSUMES_WATCHDOG ||
           assumption == DLOCK_ASSUMES_PROCESS ||
           (assumption == DLOCK_ASSUMES_RELEASE && !(caps & DLOCK_CAP_OWNED));
}

/* A holder that lost such a lock to a fault of its server deletes that of the next
 * holder, who deletes that of the one after: the aftermath goes on long after the fault.
 * */
static bool is_aftermath(const struct history *h, const struct check_example *example,
                         unsigned caps)
{
    return !(caps & DLOCK_CAP_OWNED) &&
           has_server_fault(h, DLOCK_ASSUMES_NONE, example->to_ns);
}

/* The assumption that gave way, by the finding; NONE: it cannot say.  The order of a
 * queue is data of the store as much as a lease is, and the order says nothing of it: a
 * place that a failed waiter could not give back, a queue that was lost with the data. */
static int given_way(enum check_property property, const struct check_example *example)
{
    return property == CHECK_fairness ? DLOCK_ASSUMES_NONE : example->assumption;
}

static enum crowd_blame blame_of(const struct history *h, enum check_property property,
                                 const struct check_example *example, unsigned caps)
{
    if (has_server_fault(h, given_way(property, example), example->to_ns) ||
        is_aftermath(h, example, caps))
        return CROWD_CLEAN;
    return is_lateness(example->assumption, caps) ? CROWD_MACHINE : CROWD_LOCK;
}

enum crowd_blame crowd_blame_of(const struct history *h, const struct check_verdict *v,
                                unsigned caps, char *why, size_t size)
{
    enum crowd_blame worst = CROWD_CLEAN;

    for (size_t i = 0; i < sizeof looked_at / sizeof looked_at[0]; i++) {
        const struct check_finding *finding = &v->findings[looked_at[i]];

        if (finding->valid != VERDICT_INVALID)
            continue;
        for (size_t j = 0; j < finding->example_count; j++) {
            const struct check_example *example = &finding->examples[j];
            enum crowd_blame blame = blame_of(h, looked_at[i], example, caps);

            if (blame <= worst)
                continue;
            worst = blame;
            snprintf(why, size, "the crowd: %s: %s", check_property_name(looked_at[i]),
                     example->text);
        }
    }
    return worst;
}
