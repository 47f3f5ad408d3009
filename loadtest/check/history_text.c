/* SPDX-License-Identifier: MIT */
/* history_text.c -- a history from a text that people write. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/check/history.h"
#include "base/os/clock.h"
#include "lock/record/recorder.h"

enum { WORDS_MAX = 32, LINE_MAX_BYTES = 512, PROCESSES_MAX = 64 };

/* A text being read. */
struct parse {
    struct history *h;
    char line[LINE_MAX_BYTES];
    int line_number;
    char *words[WORDS_MAX + 1]; /* NULL after the last */
    int word_count;
    int at;                     /* the next word */
    int processes[PROCESSES_MAX]; /* index + 1 of p0, p1, ...; 0: not there yet */
    char *error;
    size_t error_size;
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct parse *p,
                                                        const char *fmt, ...)
{
    int length = snprintf(p->error, p->error_size, "line %d: ", p->line_number);
    va_list args;

    va_start(args, fmt);
    vsnprintf(p->error + length, p->error_size - (size_t)length, fmt, args);
    va_end(args);
    return false;
}

static const char *next_word(struct parse *p)
{
    return p->at < p->word_count ? p->words[p->at++] : "";
}

/* The value of `word` if it is "key=value", else NULL. */
static const char *value_of(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1
                                                                   : NULL;
}

static bool read_number(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

/* A time or a duration, which may be milliseconds. */
static bool read_time(const char *text, int64_t *out)
{
    return read_number(text, out) && *out >= 0 &&
           *out <= HISTORY_TIME_MAX / DLOCK_NS_PER_MS;
}

/* "p3" or "t3". */
static bool read_label(const char *word, char letter, int64_t *out)
{
    return word[0] == letter && read_number(word + 1, out) && *out >= 0;
}

static bool find_process(struct parse *p, const char *word, uint32_t *out)
{
    int64_t number;

    if (!read_label(word, 'p', &number) || number >= PROCESSES_MAX)
        return wrong(p, "\"%s\" is no process such as p1", word);
    if (p->processes[number] == 0) {
        struct history_process *process = history_add_process(p->h);

        p->processes[number] = (int)p->h->process_count;
        snprintf(process->uuid, sizeof(process->uuid), "p%" PRId64, number);
        snprintf(process->variant, sizeof(process->variant), "lua");
        process->pid = (uint32_t)number;
        process->caps = HISTORY_TEXT_CAPS;
        process->is_closed = true;
    }
    *out = (uint32_t)(p->processes[number] - 1);
    return true;
}

static bool read_caps(struct parse *p, const char *text, unsigned *caps)
{
    *caps = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        unsigned cap = history_cap_find(text, length);

        if (cap == 0)
            return wrong(p, "there is no cap \"%.*s\"", (int)length, text);
        *caps |= cap;
        text += length + (text[length] == ',');
    }
    return true;
}

static bool read_dropped(struct history_process *process, const char *value)
{
    char *end;

    errno = 0;
    process->dropped = strtoull(value, &end, 10);
    return end != value && errno == 0 && *end == '@' &&
           read_time(end + 1, &process->dropping_ns);
}

static bool read_system(struct parse *p)
{
    struct history_process *process;
    int64_t number = 0;
    uint32_t index = 0;

    if (!find_process(p, next_word(p), &index))
        return false;
    process = &p->h->processes[index];
    while (p->at < p->word_count) {
        const char *word = next_word(p), *value;
        bool ok = true;

        if ((value = value_of(word, "pid")) != NULL) {
            ok = read_number(value, &number) && number >= 0 && number <= UINT32_MAX;
            process->pid = (uint32_t)number;
        } else if ((value = value_of(word, "variant")) != NULL) {
            snprintf(process->variant, sizeof(process->variant), "%s", value);
        } else if ((value = value_of(word, "caps")) != NULL) {
            if (!read_caps(p, value, &process->caps))
                return false;
        } else if ((value = value_of(word, "lease")) != NULL) {
            ok = read_time(value, &process->lease_ns);
        } else if ((value = value_of(word, "killed")) != NULL) {
            ok = read_time(value, &process->last_ns);
            process->is_closed = false;
        } else if ((value = value_of(word, "dropped")) != NULL) {
            ok = read_dropped(process, value);
            history_damage(p->h, "%s: records found no room", process->uuid);
        } else if ((value = value_of(word, "handover")) != NULL) {
            ok = read_number(value, &number) && number >= 0 && number <= UINT32_MAX;
            process->handover = (uint32_t)number;
        } else if (strcmp(word, "watchdog") == 0) {
            process->watchdog = true;
        } else {
            ok = false;
        }
        if (!ok)
            return wrong(p, "\"%s\" says nothing of a system", word);
    }
    return true;
}

static int find_event(const char *word)
{
#define X(id, value, name, text)                                                       \
    if (strcmp(word, name) == 0)                                                       \
        return value;
    DLOCK_EVENTS(X)
#undef X
    return 0;
}

static bool read_status(const char *word, dlock_status *out)
{
#define X(id, value, name, text)                                                       \
    if (strcmp(word, name) == 0) {                                                     \
        *out = DLOCK_##id;                                                             \
        return true;                                                                   \
    }
    DLOCK_STATUS_MAP(X)
#undef X
    return false;
}

static bool read_fault(struct parse *p, int64_t at)
{
    struct history_mark *mark = history_add_mark(p->h);
    const char *word = next_word(p);
    int64_t number;

    mark->kind = DLOCK_EVENT_FAULT;
    mark->at_ns = at;
    mark->name = history_name(p->h, word, strlen(word));
    while (p->at < p->word_count) {
        const char *value;
        bool is_known = false;

        word = next_word(p);
        for (int i = DLOCK_FAULT_IS_ARMED; i <= DLOCK_FAULT_HAPPENED; i++)
            if (strcmp(word, history_phase_name(i)) == 0) {
                mark->detail = i;
                is_known = true;
            }
        for (int i = 0; i < DLOCK_ASSUMPTION_COUNT; i++)
            if (strcmp(word, dlock_assumption_name(i)) == 0) {
                mark->assumption = (uint8_t)i;
                is_known = true;
            }
        if ((value = value_of(word, "pid")) != NULL && read_number(value, &number) &&
            number >= 0) {
            mark->owner = (uint64_t)number;
            is_known = true;
        }
        if (!is_known)
            return wrong(p, "\"%s\" says nothing of a fault", word);
    }
    return mark->detail != 0 || wrong(p, "begun, ended, happened or armed?");
}

static bool read_detail(struct parse *p, struct history_call *call, const char *word)
{
    const char *value;
    int64_t number = 0;

    if (strcmp(word, "shared") == 0) {
        call->mode = DLOCK_MODE_SHARED;
        return true;
    }
    value = strchr(word, '=');
    if (value == NULL || !read_number(value + 1, &number))
        return wrong(p, "\"%s\" says nothing of a call", word);
    if ((value_of(word, "fence") != NULL || value_of(word, "n") != NULL) && number >= 0)
        call->fence = (uint64_t)number;
    else if (value_of(word, "id") != NULL)
        memcpy(call->token, &number, sizeof(number));
    else if (value_of(word, "until") != NULL && read_time(value + 1, &number))
        call->deadline_ns = number;
    else if (value_of(word, "level") != NULL && number >= 0 && number <= UINT16_MAX)
        call->level = (int)number;
    else if (value_of(word, "wait") != NULL &&
             (number == -1 || read_time(value + 1, &number)))
        call->wait_ns = number;
    else if (value_of(word, "sent") != NULL && read_time(value + 1, &number))
        call->sent_ns = number;
    else
        return wrong(p, "\"%s\" says nothing of a call", word);
    return true;
}

/* "-> 15 ok fence=3" or "-> ?", and what else there is to say. */
static bool read_answer(struct parse *p, struct history_call *call)
{
    const char *word = next_word(p);

    if (strcmp(word, "->") != 0)
        return wrong(p, "expected -> and an answer");
    word = next_word(p);
    if (strcmp(word, "?") != 0) {
        call->is_answered = true;
        if (!read_time(word, &call->answer_ns))
            return wrong(p, "\"%s\" is no time", word);
        if (call->answer_ns < call->invoke_ns)
            return wrong(p, "answered at %s, before it was called", word);
        word = next_word(p);
        if (!read_status(word, &call->status))
            return wrong(p, "there is no answer \"%s\"", word);
        call->deadline_ns = call->status == DLOCK_OK ? HISTORY_NEVER : 0;
    }
    while (p->at < p->word_count)
        if (!read_detail(p, call, next_word(p)))
            return false;
    return true;
}

static void read_mark(struct parse *p, uint8_t kind, int64_t at, uint32_t process,
                      int64_t owner, uint32_t name)
{
    const char *detail = kind == DLOCK_EVENT_WAIT ? "given-up" : "told";

    *history_add_mark(p->h) = (struct history_mark){
        .kind = kind,
        .detail = strcmp(next_word(p), detail) == 0,
        .at_ns = at,
        .process = process,
        .name = name,
        .owner = (uint64_t)owner};
}

/* "trace 4bf92f id=7", of the hold that has this number in its token. */
static bool read_trace(struct parse *p, uint32_t process, uint32_t id)
{
    struct history_trace *trace = history_add_trace(p->h);
    const char *value = value_of(next_word(p), "id");
    int64_t number;

    if (value == NULL || !read_number(value, &number))
        return wrong(p, "a trace needs the id= of its hold");
    *trace = (struct history_trace){.process = process, .id = id};
    memcpy(trace->token, &number, sizeof(number));
    return true;
}

static bool read_event(struct parse *p, int64_t at)
{
    struct history_call *call;
    const char *word = next_word(p);
    uint32_t process = 0, name;
    int64_t owner = 0;
    int kind;

    if (strcmp(word, "fault") == 0)
        return read_fault(p, at);
    if (!find_process(p, word, &process))
        return false;
    word = next_word(p);
    if (!read_label(word, 't', &owner))
        return wrong(p, "\"%s\" is no owner such as t1", word);
    word = next_word(p);
    kind = find_event(word);
    if (kind < DLOCK_EVENT_ACQUIRE || kind == DLOCK_EVENT_FAULT)
        return wrong(p, "there is no event \"%s\"", word);
    word = next_word(p);
    name = history_name(p->h, word, strlen(word));
    if (kind == DLOCK_EVENT_TRACE)
        return read_trace(p, process, name);
    if (kind == DLOCK_EVENT_LOST || kind == DLOCK_EVENT_WAIT || kind == DLOCK_EVENT_WAKE) {
        read_mark(p, (uint8_t)kind, at, process, owner, name);
        return true;
    }
    call = history_add_call(p->h);
    call->kind = (uint8_t)kind;
    call->process = process;
    call->name = name;
    call->owner = (uint64_t)owner;
    call->invoke_ns = at;
    if (kind != DLOCK_EVENT_ABANDON)
        return read_answer(p, call);
    call->is_answered = true;
    call->answer_ns = at;
    return true;
}

static bool read_line(struct parse *p)
{
    char *rest = p->line, *word;
    int64_t at;

    p->at = p->word_count = 0;
    p->line[strcspn(p->line, "#")] = '\0';
    while (p->word_count < WORDS_MAX &&
           (word = strtok_r(rest, " \t", &rest)) != NULL)
        p->words[p->word_count++] = word;
    if (p->word_count == 0)
        return true;
    word = p->words[p->at++];
    if (strcmp(word, "system") == 0)
        return read_system(p);
    if (strcmp(word, "damage") == 0) {
        history_damage(p->h, "damaged as the text says");
        return true;
    }
    return read_time(word, &at) ? read_event(p, at) : wrong(p, "\"%s\" is no time", word);
}

bool history_parse(struct history *h, const char *text, char *error, size_t size)
{
    struct parse p = {.h = h, .error = error, .error_size = size};

    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        p.line_number++;
        if (length >= sizeof(p.line))
            return wrong(&p, "too long");
        memcpy(p.line, text, length);
        p.line[length] = '\0';
        if (!read_line(&p))
            return false;
        text += length + (text[length] == '\n');
    }
    for (size_t i = 0; i < h->call_count; i++) {
        history_see(h, h->calls[i].process, h->calls[i].invoke_ns);
        history_see(h, h->calls[i].process, h->calls[i].answer_ns);
    }
    for (size_t i = 0; i < h->mark_count; i++)
        if (h->marks[i].kind != DLOCK_EVENT_FAULT)
            history_see(h, h->marks[i].process, h->marks[i].at_ns);
    history_sort(h);
    return true;
}
