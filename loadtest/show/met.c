/* SPDX-License-Identifier: MIT */
/* met.c -- compares the losses that processes count before and after a fault. */
#include "loadtest/show/met.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/http_client.h"
#include "lock/store.h"

enum { READ_MS = 1000, MARGIN_MS = 1000, TRIES_MAX = 5 };

static unsigned met_caps(const struct show_faults *trouble)
{
    return dlock_variant_find(trouble->sale->switches.lock)->caps;
}

/* In a lesson the lesson says what happened. */
static bool met_is_asked(const struct show_faults *trouble)
{
    const dlock_variant_info *variant = dlock_variant_find(trouble->sale->switches.lock);

    return !trouble->is_lesson && dlock_store_row(dlock_store_of(variant))->product;
}

/* -1: the process did not answer. */
static int64_t met_losses_of(const struct service *s)
{
    char url[SERVICE_URL_MAX + sizeof "/metrics"], *text;
    const char *at;
    int64_t count;

    snprintf(url, sizeof url, "%s/metrics", s->admin_url);
    text = http_client_read(url, s->admin_token, READ_MS);
    at = text ? strstr(text, "\nseckill_dlock_lost_total{") : NULL;
    at = at ? strstr(at, "} ") : NULL;
    count = at ? strtoll(at + 2, NULL, 10) : -1;
    free(text);
    return count;
}

void met_read(struct show_faults *trouble)
{
    struct show_losses *losses = &trouble->losses;

    for (int i = 0; i < trouble->sale->service_count; i++) {
        const struct service *s = &trouble->sale->services[i];
        pid_t pid = child_runs(&s->child) ? s->child.pid : 0;

        if (pid != losses->pids[i])
            losses->counts[i] = -1;
        losses->pids[i] = pid;
        if (child_works(&s->child))
            losses->counts[i] = met_losses_of(s);
    }
}

void met_begin(struct show_faults *trouble, struct show_met *met, const char *name, bool is_end)
{
    if (!met_is_asked(trouble))
        return;
    if (met->due_ns == 0) { /* what is being judged goes on to be */
        met_read(trouble);
        met->before = trouble->losses;
        met->is_end = is_end;
    }
    met->name = name;
    met->due_ns = -1;
    met->tries = 0;
}

/* `lost` holders lost the lock; -1: that is not known. */
static void met_tell(struct show_faults *trouble, struct show_met *met, int process, int64_t lost)
{
    if (lost > 0 || !met->is_end)
        journal_add_of(trouble->journal,
                       lost > 0    ? JOURNAL_MET
                       : lost == 0 ? JOURNAL_MET_NOBODY
                                   : JOURNAL_MET_UNKNOWN,
                       met->name, process + 1, lost);
    met->due_ns = 0;
    met->is_told = true;
    met->is_unknown = met->is_unknown || lost < 0;
    met->count += lost > 0 ? lost : 0;
}

void met_kill(struct show_faults *trouble, const char *name, int process)
{
    const struct show_sale *sale = trouble->sale;
    const char *system = sale->systems[process];
    struct service_lock lock = {.left_ms = -1};
    bool is_known = false;
    int64_t held = 0;

    if (!met_is_asked(trouble))
        return;
    for (int i = 0; i < sale->service_count && !is_known && *sale->key; i++)
        is_known = child_works(&sale->services[i].child) && !sale->wires.is_cut[i] &&
                   service_look_lock_within(&sale->services[i], sale->key, READ_MS, &lock);
    if (lock.is_locked && *system && strncmp(lock.owner, system, strlen(system)) == 0)
        held = 1;
    else /* an owner may name no process, and the lock may end with its session */
        is_known = is_known && met_caps(trouble) & (lock.is_locked && *lock.owner
                                                        ? DLOCK_CAP_OWNED
                                                        : DLOCK_CAP_EXPIRES);
    trouble->met[SHOW_FAULT_KILL].name = name;
    met_tell(trouble, &trouble->met[SHOW_FAULT_KILL], process, is_known ? held : -1);
}

/* The holds that processes which ran before the fault have lost since; -1: one is not known. */
static int64_t met_count(const struct show_faults *trouble, const struct show_losses *before)
{
    const struct show_losses *now = &trouble->losses;
    bool is_known = true;
    int64_t lost = 0;

    for (int i = 0; i < trouble->sale->service_count; i++)
        if (before->pids[i] != 0 && (now->pids[i] != before->pids[i] || now->counts[i] < 0 ||
                                     before->counts[i] < 0))
            is_known = false;
        else if (before->pids[i] != 0)
            lost += now->counts[i] - before->counts[i];
    return lost > 0 || is_known ? lost : -1;
}

void met_step(struct show_faults *trouble, struct show_met *met)
{
    int64_t now_ns = monotonic_ns(), margin_ns = MARGIN_MS * INT64_C(1000000), lost;

    if (met->due_ns < 0)
        met->due_ns = now_ns + trouble->sale->switches.lease_ms * 1000000 + margin_ns;
    for (int i = 0; i < trouble->sale->service_count; i++)
        if (now_ns >= met->due_ns && child_state(&trouble->sale->services[i].child) == 'T')
            met->due_ns = now_ns + margin_ns; /* what it has lost is known when it goes on */
    if (now_ns < met->due_ns)
        return;
    met_read(trouble);
    lost = met_count(trouble, &met->before);
    if (lost < 0 && met->tries++ < TRIES_MAX)
        met->due_ns = now_ns + margin_ns;
    else
        met_tell(trouble, met, -1, lost == 0 && !(met_caps(trouble) & DLOCK_CAP_OWNED) ? -1 : lost);
}
