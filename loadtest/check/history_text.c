/* SPDX-License-Identifier: MIT */
/* history_text.c -- a history from a text that people write. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/check/history.h"
#include "lock/record/recorder.h"

/* ---- the words of a line ---- */

enum { WORDS_MAX = 32, LINE_MAX_BYTES = 512, PROCESSES_MAX = 64 };

/* The facts about a process that the lines of a text have, in the times of the text. */
struct parsed_process {
    int index;          /* index + 1 in the history; 0: not there yet        */
    bool is_killed;
    int64_t killed_at;
    int64_t latest_at;  /* the latest time of a record of the process ...    */
    int latest_line;    /* ... and its line; 0: the process has no record    */
};

/* A text being read. */
struct parse {
    struct history *h;
    char line[LINE_MAX_BYTES];
    int line_number;
    char *words[WORDS_MAX + 1]; /* NULL after the last */
    int word_count;
    int at;                     /* the next word */
    struct parsed_process processes[PROCESSES_MAX]; /* p0, p1, ... */
    char *error;
    size_t error_size;
};

/* Set the error, which names the line.  Always false. */
__attribute__((format(printf, 2, 3))) static bool words_wrong(struct parse *p, const char *fmt,
                                                              ...)
{
    int length = snprintf(p->error, p->error_size, "line %d: ", p->line_number);
    va_list args;

    va_start(args, fmt);
    vsnprintf(p->error + length, p->error_size - (size_t)length, fmt, args);
    va_end(args);
    return false;
}

/* Cut the line into its words, without its comment. */
static void words_split(struct parse *p)
{
    char *rest = p->line, *word;

    p->at = p->word_count = 0;
    p->line[strcspn(p->line, "#")] = '\0';
    while (p->word_count < WORDS_MAX && (word = strtok_r(rest, " \t", &rest)) != NULL)
        p->words[p->word_count++] = word;
}

/* The next word; "": the line has no more. */
static const char *words_next(struct parse *p)
{
    return p->at < p->word_count ? p->words[p->at++] : "";
}

/* The value of `word` if it is "key=value", else NULL. */
static const char *words_value(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '=' ? word + length + 1
                                                                   : NULL;
}

static bool is_same_attribute(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");

    return length == strcspn(b, "=") && memcmp(a, b, length) == 0;
}

/* Has the line, from the word `first` on, an attribute twice, such as "until=30 until=90"?  True:
 * the error is set. */
static bool words_repeat(struct parse *p, int first)
{
    for (int i = first + 1; i < p->word_count; i++)
        for (int j = first; j < i; j++)
            if (is_same_attribute(p->words[i], p->words[j])) {
                (void)words_wrong(p, "\"%s\" is there a second time", p->words[i]);
                return true;
            }
    return false;
}

static bool words_number(const char *text, int64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

/* A time or a duration, which may be milliseconds. */
static bool words_time(const char *text, int64_t *out)
{
    return words_number(text, out) && *out >= 0 &&
           *out <= HISTORY_TIME_MAX / DLOCK_NS_PER_MS;
}

/* "p3" or "t3". */
static bool words_label(const char *word, char letter, int64_t *out)
{
    return word[0] == letter && words_number(word + 1, out) && *out >= 0;
}

static bool find_process(struct parse *p, const char *word, uint32_t *out)
{
    int64_t number;

    if (!words_label(word, 'p', &number) || number >= PROCESSES_MAX)
        return words_wrong(p, "\"%s\" is no process such as p1", word);
    if (p->processes[number].index == 0) {
        struct history_process *process = history_add_process(p->h);

        p->processes[number].index = (int)p->h->process_count;
        snprintf(process->uuid, sizeof(process->uuid), "p%" PRId64, number);
        snprintf(process->variant, sizeof(process->variant), "lua");
        process->pid = (uint32_t)number;
        process->caps = HISTORY_TEXT_CAPS;
        process->is_closed = true;
    }
    *out = (uint32_t)(p->processes[number].index - 1);
    return true;
}

static struct parsed_process *parsed(struct parse *p, uint32_t process)
{
    size_t i = 0;

    while (p->processes[i].index != (int)process + 1)
        i++;
    return &p->processes[i];
}

/* The process has written a record at this time. */
static void note_record(struct parse *p, uint32_t process, int64_t at)
{
    struct parsed_process *of = parsed(p, process);

    if (of->latest_line != 0 && at <= of->latest_at)
        return;
    of->latest_at = at;
    of->latest_line = p->line_number;
}

/* Has a process written a record after it was killed?  The line that says when it was killed may
 * come after its records.  True: the error is set. */
static bool writes_after_its_kill(struct parse *p)
{
    for (int i = 0; i < PROCESSES_MAX; i++) {
        const struct parsed_process *of = &p->processes[i];

        if (!of->is_killed || of->latest_line == 0 || of->latest_at <= of->killed_at)
            continue;
        p->line_number = of->latest_line;
        (void)words_wrong(p, "p%d records at %" PRId64 ", after it was killed at %" PRId64, i,
                          of->latest_at, of->killed_at);
        return true;
    }
    return false;
}

static bool read_caps(struct parse *p, const char *text, unsigned *caps)
{
    *caps = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        unsigned cap = history_cap_find(text, length);

        if (cap == 0)
            return words_wrong(p, "there is no cap \"%.*s\"", (int)length, text);
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
           words_time(end + 1, &process->dropping_ns);
}

static bool read_system(struct parse *p)
{
    struct history_process *process;
    int64_t number = 0;
    uint32_t index = 0;

    if (!find_process(p, words_next(p), &index) || words_repeat(p, p->at))
        return false;
    process = &p->h->processes[index];
    while (p->at < p->word_count) {
        const char *word = words_next(p), *value;
        bool ok = true;

        if ((value = words_value(word, "pid")) != NULL) {
            ok = words_number(value, &number) && number >= 0 && number <= UINT32_MAX;
            process->pid = (uint32_t)number;
        } else if ((value = words_value(word, "variant")) != NULL) {
            snprintf(process->variant, sizeof(process->variant), "%s", value);
        } else if ((value = words_value(word, "caps")) != NULL) {
            if (!read_caps(p, value, &process->caps))
                return false;
        } else if ((value = words_value(word, "lease")) != NULL) {
            ok = words_time(value, &process->lease_ns);
        } else if ((value = words_value(word, "killed")) != NULL) {
            ok = words_time(value, &process->last_ns);
            process->is_closed = false;
            parsed(p, index)->is_killed = true;
            parsed(p, index)->killed_at = process->last_ns;
        } else if ((value = words_value(word, "dropped")) != NULL) {
            ok = read_dropped(process, value);
            history_damage(p->h, "%s: records found no room", process->uuid);
        } else if ((value = words_value(word, "handover")) != NULL) {
            ok = words_number(value, &number) && number >= 0 && number <= UINT32_MAX;
            process->handover = (uint32_t)number;
        } else if (strcmp(word, "watchdog") == 0) {
            process->watchdog = true;
        } else {
            ok = false;
        }
        if (!ok)
            return words_wrong(p, "\"%s\" says nothing of a system", word);
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
    const char *word = words_next(p);
    int64_t number;

    mark->kind = DLOCK_EVENT_FAULT;
    mark->at_ns = at;
    mark->name = history_name(p->h, word, strlen(word));
    if (words_repeat(p, p->at))
        return false;
    while (p->at < p->word_count) {
        const char *value;
        bool is_known = false;

        word = words_next(p);
        for (int i = DLOCK_FAULT_IS_ARMED; i <= DLOCK_FAULT_HAPPENED; i++)
            if (strcmp(word, history_phase_name(i)) == 0 && mark->detail == 0) {
                mark->detail = i;
                is_known = true;
            }
        for (int i = 0; i < DLOCK_ASSUMPTION_COUNT; i++)
            if (strcmp(word, dlock_assumption_name(i)) == 0) {
                mark->assumption = (uint8_t)i;
                is_known = true;
            }
        if ((value = words_value(word, "pid")) != NULL && words_number(value, &number) &&
            number >= 0) {
            mark->owner = (uint64_t)number;
            is_known = true;
        }
        if (!is_known)
            return words_wrong(p, "\"%s\" says nothing of a fault", word);
    }
    return mark->detail != 0 || words_wrong(p, "begun, ended, happened or armed?");
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
    if (value == NULL || !words_number(value + 1, &number))
        return words_wrong(p, "\"%s\" says nothing of a call", word);
    if ((words_value(word, "fence") != NULL || words_value(word, "n") != NULL) && number >= 0)
        call->fence = (uint64_t)number;
    else if (words_value(word, "id") != NULL)
        memcpy(call->token, &number, sizeof(number));
    else if (words_value(word, "until") != NULL && words_time(value + 1, &number))
        call->deadline_ns = number;
    else if (words_value(word, "level") != NULL && number >= 0 && number <= UINT16_MAX)
        call->level = (int)number;
    else if (words_value(word, "wait") != NULL &&
             (number == -1 || words_time(value + 1, &number)))
        call->wait_ns = number;
    else if (words_value(word, "sent") != NULL && words_time(value + 1, &number))
        call->sent_ns = number;
    else
        return words_wrong(p, "\"%s\" says nothing of a call", word);
    return true;
}

/* The end of a lease is counted from the sending of its request, and no lease is shorter than the
 * allowance for clocks that drift apart.  The end of a permit is a time of the wall clock.  A call
 * that was not granted has the end 0, unless the store's grant came too late.  A grant with the
 * end 0 was written as until=0. */
static bool ends_before_its_call(const struct history_call *call)
{
    bool is_granted = call->is_answered && call->status == DLOCK_OK;

    return (call->kind == DLOCK_EVENT_ACQUIRE || call->kind == DLOCK_EVENT_RENEW) &&
           (call->deadline_ns != 0 || is_granted) && call->deadline_ns < call->invoke_ns;
}

/* "-> 15 ok fence=3" or "-> ?", and what else there is to say. */
static bool read_answer(struct parse *p, struct history_call *call)
{
    const char *word = words_next(p);

    if (strcmp(word, "->") != 0)
        return words_wrong(p, "expected -> and an answer");
    word = words_next(p);
    if (strcmp(word, "?") != 0) {
        call->is_answered = true;
        if (!words_time(word, &call->answer_ns))
            return words_wrong(p, "\"%s\" is no time", word);
        if (call->answer_ns < call->invoke_ns)
            return words_wrong(p, "answered at %s, before it was called", word);
        word = words_next(p);
        if (!read_status(word, &call->status))
            return words_wrong(p, "there is no answer \"%s\"", word);
        call->deadline_ns = call->status == DLOCK_OK ? HISTORY_NEVER : 0;
    }
    if (words_repeat(p, p->at))
        return false;
    while (p->at < p->word_count)
        if (!read_detail(p, call, words_next(p)))
            return false;
    return !ends_before_its_call(call) ||
           words_wrong(p, "until=%" PRId64 " is before the call", call->deadline_ns);
}

static void read_mark(struct parse *p, uint8_t kind, int64_t at, uint32_t process,
                      int64_t owner, uint32_t name)
{
    const char *detail = kind == DLOCK_EVENT_WAIT ? "given-up" : "told";

    *history_add_mark(p->h) = (struct history_mark){
        .kind = kind,
        .detail = strcmp(words_next(p), detail) == 0,
        .at_ns = at,
        .process = process,
        .name = name,
        .owner = (uint64_t)owner};
}

/* "trace 4bf92f id=7", of the hold that has this number in its token. */
static bool read_trace(struct parse *p, uint32_t process, uint32_t id)
{
    struct history_trace *trace = history_add_trace(p->h);
    const char *value = words_value(words_next(p), "id");
    int64_t number;

    if (value == NULL || !words_number(value, &number))
        return words_wrong(p, "a trace needs the id= of its hold");
    *trace = (struct history_trace){.process = process, .id = id};
    memcpy(trace->token, &number, sizeof(number));
    return true;
}

static bool read_event(struct parse *p, int64_t at)
{
    struct history_call *call;
    const char *word = words_next(p);
    uint32_t process = 0, name;
    int64_t owner = 0;
    int kind;

    if (strcmp(word, "fault") == 0)
        return read_fault(p, at);
    if (!find_process(p, word, &process))
        return false;
    word = words_next(p);
    if (!words_label(word, 't', &owner))
        return words_wrong(p, "\"%s\" is no owner such as t1", word);
    word = words_next(p);
    kind = find_event(word);
    if (kind < DLOCK_EVENT_ACQUIRE || kind == DLOCK_EVENT_FAULT)
        return words_wrong(p, "there is no event \"%s\"", word);
    word = words_next(p);
    name = history_name(p->h, word, strlen(word));
    note_record(p, process, at);
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
    if (kind == DLOCK_EVENT_ABANDON) {
        call->is_answered = true;
        call->answer_ns = at;
        return true;
    }
    if (!read_answer(p, call))
        return false;
    note_record(p, process, call->is_answered ? call->answer_ns : at);
    return true;
}

static bool read_line(struct parse *p)
{
    const char *word;
    int64_t at;

    words_split(p);
    if (p->word_count == 0)
        return true;
    word = p->words[p->at++];
    if (strcmp(word, "system") == 0)
        return read_system(p);
    if (strcmp(word, "damage") == 0) {
        history_damage(p->h, "damaged as the text says");
        return true;
    }
    return words_time(word, &at) ? read_event(p, at) : words_wrong(p, "\"%s\" is no time", word);
}

bool history_parse(struct history *h, const char *text, char *error, size_t size)
{
    struct parse p = {.h = h, .error = error, .error_size = size};

    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        p.line_number++;
        if (length >= sizeof(p.line))
            return words_wrong(&p, "too long");
        memcpy(p.line, text, length);
        p.line[length] = '\0';
        if (length > 0 && p.line[length - 1] == '\r')
            p.line[length - 1] = '\0';
        if (!read_line(&p))
            return false;
        text += length + (text[length] == '\n');
    }
    if (writes_after_its_kill(&p))
        return false;
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
