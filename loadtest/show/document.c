/* SPDX-License-Identifier: MIT */
/* document.c -- writes the state of the sale as JSON. */
#include "loadtest/show/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/files.h"
#include "lock/dlock.h"

static const char *phase_name(enum show_phase phase)
{
    static const char *const names[] = {"starting", "ready", "running", "ended", "failed"};

    return names[phase];
}

static json_int_t ms_since(int64_t ns)
{
    return (monotonic_ns() - ns) / 1000000;
}

/* The JSON of a number that may be unknown. */
static json_t *known(int64_t value, bool is_known)
{
    return is_known ? json_integer(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *run_json(const struct document *d)
{
    const struct show_sale *sale = d->sight->sale;
    char command[SHOW_COMMAND_MAX];
    int64_t end_ns = sale->is_loaded ? monotonic_ns() : sale->end_ns;
    int64_t elapsed_ms = sale->begin_ns ? (end_ns - sale->begin_ns) / 1000000 : 0;

    show_command_line(command, &sale->switches, d->limit_ms, d->lesson->number);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o}", "id", (json_int_t)d->run_id,
                     "voucher", (json_int_t)sale->voucher, "elapsed_ms", (json_int_t)elapsed_ms,
                     "limit_ms", (json_int_t)d->limit_ms, "made_ms", (json_int_t)sale->made_ms,
                     "command", command, "settings", show_switches_json(&sale->switches), "why",
                     text_or_null(sale->why));
}

static json_t *stock_json(const struct sight *sight)
{
    const struct tally *t = &sight->tally;

    if (!sight->has_tally)
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "issued", (json_int_t)t->issued, "left",
                     (json_int_t)t->left, "sold", (json_int_t)t->orders);
}

/* A violation is final.  "Sound" is provisional until no request is on its way. */
static json_t *verdict_json(const struct document *d)
{
    const struct sight *sight = d->sight;
    const struct tally *t = &sight->tally;
    int64_t over = t->orders - t->issued, lost = t->left + t->orders - t->issued;
    int64_t in_flight = 0, refused = 0;
    bool is_broken, is_settled = d->phase == SHOW_ENDED && sight->is_settled;
    json_t *valid;

    if (!sight->has_tally)
        return json_null();
    for (int i = 0; i < sight->sale->service_count; i++)
        in_flight += sight->processes[i].in_flight, refused += sight->processes[i].refused;
    is_broken = sight->was_oversold || sight->was_lost || sight->was_double ||
                (is_settled && lost != 0);
    valid = is_broken                                ? json_false()
            : sight->sale->has_run && t->orders > 0 ? json_true()
                                                     : json_string("unknown");
    return json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "valid", valid, "final",
                     is_broken || is_settled, "oversold", (json_int_t)(over > 0 ? over : 0),
                     "duplicates", (json_int_t)t->doubles, "lost_updates", (json_int_t)lost,
                     "refused", (json_int_t)refused, "in_flight", (json_int_t)in_flight, "age_ms",
                     ms_since(sight->tally_ns));
}

/* The lease that a thread of the process believes to have; null: it is not known to have one. */
static json_t *belief_json(const struct sight *sight, int i)
{
    int fault = trouble_of_process(sight->trouble, i);
    char state = sight->processes[i].state;
    const struct service_lock *lock = &sight->lock;
    bool by_right = state != SIGHT_LATE && state != SIGHT_FROZEN_LATE;

    if (fault >= 0)
        lock = trouble_hold_of(sight->trouble, i);
    else if (state != SIGHT_HOLDS)
        return json_null();
    if (by_right)
        lock = &sight->lock;
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "name", sight->sale->key, "by_right",
                     by_right, "fence", known((int64_t)lock->fence, lock->fence != 0), "count",
                     known(lock->hold_count, lock->hold_count >= 0), "left_ms",
                     known(lock->left_ms, lock->left_ms >= 0));
}

static const char *state_name(char state)
{
    switch (state) {
    case SIGHT_WAITS:
        return "waiting";
    case SIGHT_HOLDS:
        return "holding";
    case SIGHT_SLOW:
        return "slow";
    case SIGHT_LATE:
        return "late";
    case SIGHT_FROZEN_HOLDS:
    case SIGHT_FROZEN_LATE:
        return "frozen";
    case SIGHT_DEAD:
        return "dead";
    default:
        return "serving";
    }
}

static json_t *processes_json(const struct sight *sight)
{
    json_t *list = json_array();

    for (int i = 0; i < sight->sale->service_count; i++) {
        const struct sight_process *p = &sight->processes[i];

        json_array_append_new(
            list, json_pack("{s:i, s:i, s:s, s:I, s:I, s:I, s:o, s:s}", "n", i + 1, "pid",
                            (int)sight->sale->services[i].child.pid, "state",
                            state_name(p->state), "since_ms", ms_since(p->since_ns), "in_flight",
                            (json_int_t)p->in_flight, "orders", (json_int_t)p->orders, "lease",
                            belief_json(sight, i), "lane", p->lane));
    }
    return list;
}

/* The number of the process that the owner belongs to; 0: not known. */
static int process_of(const struct show_sale *sale, const char *owner)
{
    for (int i = 0; i < sale->service_count; i++)
        if (*sale->systems[i] &&
            strncmp(owner, sale->systems[i], strlen(sale->systems[i])) == 0)
            return i + 1;
    return 0;
}

static json_t *store_json(const struct sight *sight)
{
    const struct show_sale *sale = sight->sale;
    const dlock_variant_info *variant = dlock_variant_find(sale->switches.lock);
    const struct service_lock *lock = &sight->lock;
    json_t *locks = json_array();

    if (*sale->key && sight->store_ns)
        json_array_append_new(
            locks,
            json_pack("{s:s, s:b, s:o, s:i, s:o, s:o, s:o, s:o, s:I}", "name", sale->key, "locked",
                      lock->is_locked, "owner", text_or_null(lock->owner), "process",
                      process_of(sale, lock->owner), "ttl_ms",
                      known(lock->left_ms, lock->is_locked && lock->left_ms >= 0), "count",
                      known(lock->hold_count, lock->hold_count >= 0), "fence",
                      known((int64_t)lock->fence, lock->fence != 0), "waiters",
                      known(lock->waiter_count, lock->waiter_count >= 0), "renewals",
                      (json_int_t)sight->renewals));
    return json_pack("{s:s, s:b, s:o, s:o}", "kind", variant ? variant->store : "-", "answers",
                     sight->store_answers, "age_ms",
                     sight->store_ns ? json_integer(ms_since(sight->store_ns)) : json_null(),
                     "locks", locks);
}

static json_t *fault_json(const struct show_faults *trouble, int i)
{
    static const char *const states[] = {"off", "armed", "on", "busy"};
    const struct trouble_wish wish = {.fault = i, .process = -1};
    struct trouble_look look = trouble_look(trouble, i);
    struct show_refusal refusal = trouble_refuses(trouble, &wish);

    return json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:b, s:o}", "name", trouble_name(i), "state", states[look.state],
        "process", look.process + 1, "server", text_or_null(look.server), "since_ms",
        known(look.since_ns ? ms_since(look.since_ns) : 0, look.state != SHOW_FAULT_OFF), "ended",
        look.has_ended, "refuses", refusal.text ? json_string(refusal.code) : json_null());
}

static json_t *faults_json(const struct show_faults *trouble)
{
    json_t *list = json_array();

    for (int i = 0; trouble_name(i); i++)
        json_array_append_new(list, fault_json(trouble, i));
    return list;
}

char *document_make(const struct document *d)
{
    const struct sight *sight = d->sight;
    json_t *json = json_pack(
        "{s:i, s:s, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format",
        DOCUMENT_FORMAT, "boot_id", d->boot_id, "seq", (json_int_t)d->seq, "at_ms",
        ms_since(sight->journal->begin_ns), "phase", phase_name(d->phase),
        "run", run_json(d),
        "stock", stock_json(sight), "verdict", verdict_json(d), "processes",
        processes_json(sight), "store", store_json(sight), "rates", points_json(&sight->points),
        "faults", faults_json(sight->trouble), "events", journal_json(sight->journal),
        "lesson", lesson_progress_json(d->lesson));
    char *text = files_json_text(json, JSON_COMPACT);

    json_decref(json);
    return text;
}
