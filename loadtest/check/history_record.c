/* SPDX-License-Identifier: MIT */
/* history_record.c -- reads a record of a file as calls or a mark, and refuses a record
 * that no recorder writes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loadtest/check/history_file.h"
#include "base/os/clock.h"

bool history_is_time(int64_t ns)
{
    return ns >= 0 && ns <= HISTORY_TIME_MAX;
}

/* The whole name of the record at `at` into `out`.  False: it is damaged. */
static bool read_name(const struct reading *r, uint64_t at, char *out)
{
    const dlock_record *record = &r->slots[at];
    size_t left = record->name_length;
    size_t part = left < DLOCK_RECORD_NAME_HERE ? left : DLOCK_RECORD_NAME_HERE;

    if (left > DLOCK_NAME_MAX)
        return false;
    memcpy(out, record->name, part);
    for (unsigned i = 1; i < record->slots; i++) {
        const dlock_record_more *more = (const dlock_record_more *)&record[i];

        if (at + i >= r->slot_count || more->commit != DLOCK_RECORD_MORE + at + i)
            return false;
        left -= part;
        out += part;
        part = left < DLOCK_RECORD_NAME_MORE ? left : DLOCK_RECORD_NAME_MORE;
        memcpy(out, more->name, part);
    }
    return left == part;
}

int64_t history_from_ms(int64_t ms)
{
    return ms * DLOCK_NS_PER_MS;
}

/* The fields that a call and the release of its hold have in common. */
static struct history_call *add_any_call(struct reading *r, const dlock_record *record,
                                         uint32_t name)
{
    struct history_call *call = history_add_call(r->h);

    call->mode = record->mode;
    call->level = record->level;
    call->process = r->process;
    call->name = name;
    call->owner = record->owner;
    call->lease_ns = history_from_ms(record->lease_ms);
    memcpy(call->token, record->token, sizeof(call->token));
    return call;
}

static void answer_call(struct reading *r, struct history_call *call, int64_t at_ns,
                        uint8_t status)
{
    call->is_answered = true;
    call->answer_ns = at_ns;
    call->status = (dlock_status)status;
    history_see(r->h, r->process, at_ns);
}

static void add_call(struct reading *r, const dlock_record *record, uint32_t name,
                     bool is_answered)
{
    struct history_call *call = add_any_call(r, record, name);

    call->kind = record->kind;
    call->invoke_ns = record->time_ns;
    call->wait_ns = history_from_ms(record->wait_ms);
    if (is_answered || record->kind >= DLOCK_EVENT_SEM_SET)
        call->fence = record->fence;
    if (!is_answered)
        return;
    answer_call(r, call, record->answer_ns, record->status);
    call->sent_ns = record->sent_ns;
    call->deadline_ns = record->deadline_ns;
}

static void add_release(struct reading *r, const dlock_record *record, uint32_t name,
                        bool is_answered)
{
    struct history_call *call = add_any_call(r, record, name);

    call->kind = DLOCK_EVENT_RELEASE;
    call->invoke_ns = record->release_ns;
    history_see(r->h, r->process, record->release_ns);
    if (is_answered)
        answer_call(r, call, record->released_ns, record->release_status);
}

static void add_mark(struct reading *r, const dlock_record *record, uint32_t name)
{
    bool is_fault = record->kind == DLOCK_EVENT_FAULT;

    *history_add_mark(r->h) = (struct history_mark){
        .kind = record->kind,
        .assumption = is_fault ? (uint8_t)record->level : 0,
        .detail = (int)record->detail,
        .at_ns = record->time_ns,
        .process = r->process,
        .name = name,
        .owner = record->owner};
}

static void add_trace(struct reading *r, const dlock_record *record, uint32_t name)
{
    struct history_trace *trace = history_add_trace(r->h);

    trace->process = r->process;
    trace->id = name;
    memcpy(trace->token, record->token, sizeof(trace->token));
}

static bool is_call(const dlock_record *record)
{
    return (record->kind >= DLOCK_EVENT_ACQUIRE && record->kind <= DLOCK_EVENT_ABANDON) ||
           (record->kind >= DLOCK_EVENT_SEM_SET && record->kind <= DLOCK_EVENT_LATCH_DELETE);
}

static bool is_status(unsigned status)
{
    switch (status) {
#define X(name, value, id, text) case value:
        DLOCK_STATUS_MAP(X)
#undef X
        return true;
    default:
        return false;
    }
}

static const char *event_expected(const dlock_record *record)
{
    if (record->kind < DLOCK_EVENT_OPEN || record->kind > DLOCK_EVENT_TRACE)
        return "a kind of event from 1 to 23, which are all that this program knows";
    if (record->kind == DLOCK_EVENT_TRACE)
        return record->name_length > 0 && record->name_length <= DLOCK_TRACE_MAX
                   ? NULL
                   : "the id of a trace, of 1 to 64 bytes";
    if (record->kind != DLOCK_EVENT_FAULT)
        return NULL;
    if (record->detail < DLOCK_FAULT_IS_ARMED || record->detail > DLOCK_FAULT_HAPPENED)
        return "a phase of a fault from 1 to 4";
    return record->level < DLOCK_ASSUMPTION_COUNT ? NULL : "an assumption from 0 to 9";
}

static const char *answer_expected(const dlock_record *record)
{
    if (!is_status(record->status))
        return "a status that there is";
    if (!history_is_time(record->answer_ns) || record->answer_ns < record->time_ns)
        return "an answer after its call";
    if (!history_is_time(record->sent_ns) || record->sent_ns > record->answer_ns)
        return "a request that was sent before its answer";
    if (record->deadline_ns != HISTORY_NEVER && !history_is_time(record->deadline_ns))
        return "a deadline that is a time, or none";
    return NULL;
}

static bool has_release(uint64_t stage)
{
    return stage == DLOCK_RECORD_RELEASING || stage == DLOCK_RECORD_RELEASED;
}

static const char *release_expected(const dlock_record *record, uint64_t stage)
{
    if (record->kind != DLOCK_EVENT_ACQUIRE || record->status != DLOCK_OK)
        return "a release in the record of an acquire that was granted";
    if (!history_is_time(record->release_ns) || record->release_ns < record->answer_ns)
        return "a release after its acquire";
    if (stage != DLOCK_RECORD_RELEASED)
        return NULL;
    if (!is_status(record->release_status))
        return "a status of the release that there is";
    if (!history_is_time(record->released_ns) || record->released_ns < record->release_ns)
        return "an answer to the release after its call";
    return NULL;
}

/* The value that a recorder would have written in place of this record's; NULL: the
 * record can be a recorder's.  A call without an answer may have any value there. */
static const char *expected(const dlock_record *record, uint64_t stage)
{
    const char *what = event_expected(record);

    if (what == NULL && !history_is_time(record->time_ns))
        what = "a time of at most 18 years";
    if (what != NULL)
        return what;
    if (!is_call(record))
        return has_release(stage) ? "a release in the record of an acquire" : NULL;
    if (record->mode > DLOCK_MODE_SHARED)
        return "a mode of 0 or 1";
    if (record->wait_ms < -1)
        return "a wait of -1 ms or more";
    if (stage != DLOCK_RECORD_BEGUN)
        what = answer_expected(record);
    if (what == NULL && has_release(stage))
        what = release_expected(record, stage);
    return what;
}

uint64_t history_offset_of(uint64_t slot)
{
    return DLOCK_RECORD_HEADER_SIZE + slot * DLOCK_RECORD_SIZE;
}

/* Add the record in this slot as a call or a mark.  A record that no recorder writes is added as
 * damage. */
static void read_record(struct reading *r, uint64_t at)
{
    const dlock_record *record = &r->slots[at];
    uint64_t stage = record->commit - at;
    char name[DLOCK_NAME_MAX + 1];
    const char *what = expected(record, stage);
    uint32_t index;

    if (what == NULL && !read_name(r, at, name))
        what = "the whole of a name";
    if (what != NULL) {
        history_nonsense(r->h, "%s: byte %" PRIu64 ", record %" PRIu64 ": expected %s",
                         r->file, history_offset_of(at), at, what);
        r->h->processes[r->process].has_hole = true;
        return;
    }
    history_see(r->h, r->process, record->time_ns);
    index = history_name(r->h, name, record->name_length);
    if (record->kind == DLOCK_EVENT_TRACE) {
        add_trace(r, record, index);
        return;
    }
    if (!is_call(record)) {
        add_mark(r, record, index);
        return;
    }
    add_call(r, record, index, stage != DLOCK_RECORD_BEGUN);
    if (has_release(stage))
        add_release(r, record, index, stage == DLOCK_RECORD_RELEASED);
}

bool history_is_record(const struct reading *r, uint64_t at)
{
    uint64_t stage = r->slots[at].commit - at;

    return stage == DLOCK_RECORD_BEGUN || stage == DLOCK_RECORD_DONE ||
           has_release(stage);
}

static bool is_blank(const dlock_record *slot)
{
    static const char zeros[DLOCK_RECORD_SIZE];

    return memcmp(slot, zeros, sizeof(zeros)) == 0;
}

void history_read_slots(struct reading *r, uint64_t at, uint64_t end)
{
    while (at < end) {
        const dlock_record *record = &r->slots[at];
        unsigned slots = 1;

        if (history_is_record(r, at)) {
            slots = record->slots > 0 ? record->slots : 1;
            read_record(r, at);
        } else if (record->commit != DLOCK_RECORD_MORE + at && !is_blank(record)) {
            r->torn_count++;
        }
        at += slots;
    }
}

void history_hole(struct reading *r, const char *fmt, ...)
{
    char text[HISTORY_DAMAGE_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    history_damage(r->h, "%s: %s", r->file, text);
    r->h->processes[r->process].has_hole = true;
}
