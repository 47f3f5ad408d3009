/* SPDX-License-Identifier: MIT */
/* history.c -- growing a history, and sorting it by time. */
#include "loadtest/check/history.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/hash_table.h"
#include "base/os/utf8.h"
#include "loadtest/kit/bisect.h"
#include "loadtest/kit/compare.h"
#include "loadtest/kit/memory.h"

/* A name and its index. */
struct history_names {
    uint32_t index;
    size_t length;
    UT_hash_handle hh;
    char text[];
};

void history_reserve(struct history *h, size_t calls, size_t marks)
{
    MEMORY_ROOM(h->calls, h->call_count, calls, h->call_room);
    MEMORY_ROOM(h->marks, h->mark_count, marks, h->mark_room);
}

struct history_process *history_add_process(struct history *h)
{
    MEMORY_ROOM(h->processes, h->process_count, 1, h->process_room);
    h->processes[h->process_count] =
        (struct history_process){.dropping_ns = HISTORY_NEVER};
    return &h->processes[h->process_count++];
}

struct history_call *history_add_call(struct history *h)
{
    MEMORY_ROOM(h->calls, h->call_count, 1, h->call_room);
    h->calls[h->call_count] = (struct history_call){
        .answer_ns = HISTORY_NEVER, .order = (uint32_t)h->call_count};
    return &h->calls[h->call_count++];
}

struct history_mark *history_add_mark(struct history *h)
{
    MEMORY_ROOM(h->marks, h->mark_count, 1, h->mark_room);
    h->marks[h->mark_count] = (struct history_mark){0};
    return &h->marks[h->mark_count++];
}

struct history_trace *history_add_trace(struct history *h)
{
    MEMORY_ROOM(h->traces, h->trace_count, 1, h->trace_room);
    h->traces[h->trace_count] = (struct history_trace){0};
    return &h->traces[h->trace_count++];
}

__attribute__((format(printf, 2, 0))) static void
add_damage(struct history *h, const char *fmt, va_list args)
{
    char text[sizeof(*h->damages)];

    MEMORY_ROOM(h->damages, h->damage_count, 1, h->damage_room);
    vsnprintf(text, sizeof(text), fmt, args);
    utf8_show(text, h->damages[h->damage_count++], sizeof(text));
}

void history_damage(struct history *h, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_damage(h, fmt, args);
    va_end(args);
}

void history_nonsense(struct history *h, const char *fmt, ...)
{
    va_list args;

    h->nonsense_count++;
    va_start(args, fmt);
    add_damage(h, fmt, args);
    va_end(args);
}

void history_see(struct history *h, uint32_t process, int64_t at_ns)
{
    if (at_ns != HISTORY_NEVER)
        h->processes[process].last_ns = greatest(h->processes[process].last_ns, at_ns);
}

uint32_t history_name(struct history *h, const char *name, size_t length)
{
    struct history_names *entry = NULL;

    HASH_FIND(hh, h->index, name, length, entry);
    if (entry != NULL)
        return entry->index;
    entry = memory_need(malloc(sizeof(*entry) + length + 1));
    memcpy(entry->text, name, length);
    entry->text[length] = '\0';
    entry->length = length;
    entry->index = (uint32_t)h->name_count;
    HASH_ADD(hh, h->index, text, length, entry);
    MEMORY_ROOM(h->names, h->name_count, 1, h->name_room);
    h->names[h->name_count++] = entry->text;
    return entry->index;
}

int64_t history_find_name(const struct history *h, const char *name)
{
    struct history_names *entry = NULL;

    HASH_FIND(hh, h->index, name, strlen(name), entry);
    return entry != NULL ? (int64_t)entry->index : -1;
}

static int compare_calls(const void *left, const void *right)
{
    const struct history_call *a = left, *b = right;
    int order = COMPARE(a->invoke_ns, b->invoke_ns);

    order = order != 0 ? order : COMPARE(a->answer_ns, b->answer_ns);
    order = order != 0 ? order : COMPARE(a->process, b->process);
    order = order != 0 ? order : COMPARE(a->owner, b->owner);
    return order != 0 ? order : COMPARE(a->order, b->order);
}

static int compare_marks(const void *left, const void *right)
{
    const struct history_mark *a = left, *b = right;
    int order = COMPARE(a->at_ns, b->at_ns);

    order = order != 0 ? order : COMPARE(a->process, b->process);
    order = order != 0 ? order : COMPARE(a->owner, b->owner);
    return order != 0 ? order : COMPARE(a->kind, b->kind);
}

static int compare_hold(const struct history_trace *trace, uint32_t process,
                        const uint8_t token[DLOCK_RECORD_TOKEN_SIZE])
{
    int order = COMPARE(trace->process, process);

    return order != 0 ? order : memcmp(trace->token, token, sizeof(trace->token));
}

/* The names got their indices in the order in which they were added. */
static int compare_traces(const void *left, const void *right)
{
    const struct history_trace *a = left, *b = right;
    int order = compare_hold(a, b->process, b->token);

    return order != 0 ? order : COMPARE(a->id, b->id);
}

void history_sort(struct history *h)
{
    if (h->call_count > 0)
        qsort(h->calls, h->call_count, sizeof(*h->calls), compare_calls);
    if (h->mark_count > 0)
        qsort(h->marks, h->mark_count, sizeof(*h->marks), compare_marks);
    if (h->trace_count > 0)
        qsort(h->traces, h->trace_count, sizeof(*h->traces), compare_traces);
}

/* Few holds have a trace, and only findings need it.  Therefore traces have an array of their
 * own. */
size_t history_traces_of(const struct history *h, const struct history_call *call,
                         const struct history_trace **first)
{
    static const uint8_t none[DLOCK_RECORD_TOKEN_SIZE];
    size_t at = 0, end;

    *first = h->traces;
    if (h->trace_count == 0 || memcmp(call->token, none, sizeof(none)) == 0)
        return 0;
    BISECT(at, h->trace_count, i,
           compare_hold(&h->traces[i], call->process, call->token) < 0);
    end = at;
    *first = h->traces + at;
    while (end < h->trace_count &&
           compare_hold(&h->traces[end], call->process, call->token) == 0)
        end++;
    return end - at;
}

static void scale(int64_t *time, int64_t factor)
{
    if (*time != HISTORY_NEVER)
        *time *= factor;
}

void history_scale(struct history *h, int64_t factor)
{
    for (size_t i = 0; i < h->process_count; i++) {
        scale(&h->processes[i].lease_ns, factor);
        scale(&h->processes[i].dropping_ns, factor);
        scale(&h->processes[i].last_ns, factor);
    }
    for (size_t i = 0; i < h->call_count; i++) {
        struct history_call *call = &h->calls[i];

        scale(&call->invoke_ns, factor);
        scale(&call->answer_ns, factor);
        scale(&call->sent_ns, factor);
        scale(&call->deadline_ns, factor);
        scale(&call->wait_ns, factor);
        scale(&call->lease_ns, factor);
    }
    for (size_t i = 0; i < h->mark_count; i++)
        scale(&h->marks[i].at_ns, factor);
}

void history_clear(struct history *h)
{
    h->process_count = h->call_count = h->mark_count = h->trace_count = 0;
    h->damage_count = h->nonsense_count = h->unread_count = 0;
}

void history_free(struct history *h)
{
    struct history_names *entry = h->index, *next;

    HASH_CLEAR(hh, h->index); /* the entries stay, chained in the order they came */
    for (; entry != NULL; entry = next) {
        next = entry->hh.next;
        free(entry);
    }
    free(h->processes);
    free(h->calls);
    free(h->marks);
    free(h->traces);
    free(h->names);
    free(h->damages);
    *h = (struct history){0};
}

const char *history_phase_name(int phase)
{
    static const char *const phases[] = {"armed", "begun", "ended", "happened"};

    return phase >= DLOCK_FAULT_IS_ARMED && phase <= DLOCK_FAULT_HAPPENED
               ? phases[phase - DLOCK_FAULT_IS_ARMED]
               : "?";
}

static const struct {
    unsigned cap;
    const char *name;
} caps[] = {
    {DLOCK_CAP_EXCLUSIVE, "exclusive"}, {DLOCK_CAP_LOCAL, "local"},
    {DLOCK_CAP_EXPIRES, "expires"},     {DLOCK_CAP_OWNED, "owned"},
    {DLOCK_CAP_RENEW, "renew"},         {DLOCK_CAP_REENTRANT, "reentrant"},
    {DLOCK_CAP_PUSH, "push"},           {DLOCK_CAP_QUORUM, "quorum"},
    {DLOCK_CAP_FENCED, "fenced"},       {DLOCK_CAP_ATOMIC, "atomic"},
    {DLOCK_CAP_FAIR, "fair"},           {DLOCK_CAP_SESSION, "session"},
    {DLOCK_CAP_SHARED, "shared"},
};

enum { CAP_COUNT = sizeof(caps) / sizeof(caps[0]) };

const char *history_cap_name(unsigned cap)
{
    for (size_t i = 0; i < CAP_COUNT; i++)
        if (caps[i].cap == cap)
            return caps[i].name;
    return "?";
}

unsigned history_cap_find(const char *name, size_t length)
{
    for (size_t i = 0; i < CAP_COUNT; i++)
        if (strlen(caps[i].name) == length && memcmp(caps[i].name, name, length) == 0)
            return caps[i].cap;
    return 0;
}
