/* SPDX-License-Identifier: MIT */
/* log.c -- the only place that writes log lines. */
#include "base/text/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/mutex.h"
#include "base/text/printable.h"

enum {
    LINE_MAX_BYTES = 1024,
    TIME_BYTES = 64, /* of a time, with room for any year */
    JSON_MAX_BYTES = 2 * (LINE_MAX_BYTES + TIME_BYTES), /* each byte of a message escaped */
    FIELDS_BYTES = 512, /* fields beyond that are left out */
    WHOLE_MAX_BYTES = JSON_MAX_BYTES + FIELDS_BYTES + 2 /* the end of the line */
};
_Static_assert((size_t)WHOLE_MAX_BYTES <= DLOCK_DESCRIPTOR_WHOLE, "a line is one write");

static atomic_int lowest = LOG_INFO;
static atomic_int format_now = LOG_TEXT;

/* One thread writes at a time: two that both saw room for one line would wait for more. */
static struct {
    struct dlock_mutex mutex;
    uint64_t lost; /* lines since the last that was written */
} writing = {.mutex = DLOCK_MUTEX_INITIALIZER};

static _Thread_local const struct log_field *fields_here; /* LOG_FIELDS of them, or NULL */

static const char *const LEVELS[] = {"debug", "info", "warn", "error"};

void log_set_level(enum log_level level)
{
    atomic_store(&lowest, (int)level);
}

void log_set_format(enum log_format format)
{
    atomic_store(&format_now, (int)format);
}

const struct log_field *log_set_fields(const struct log_field *fields)
{
    const struct log_field *before = fields_here;

    fields_here = fields;
    return before;
}

/* Add the fields of the thread's lines; the length is returned. */
static size_t add_fields(char *line, size_t len, bool is_json)
{
    size_t end = len + FIELDS_BYTES;

    for (const struct log_field *f = fields_here; f != NULL && f < fields_here + LOG_FIELDS; f++) {
        int added = 0;

        if (f->name != NULL && f->text != NULL)
            added = snprintf(line + len, end - len, is_json ? ",\"%s\":\"%s\"" : " %s=%s", f->name,
                             f->text);
        else if (f->name != NULL)
            added = snprintf(line + len, end - len, is_json ? ",\"%s\":%lld" : " %s=%lld", f->name,
                             f->number);
        len += (size_t)added < end - len ? (size_t)added : 0;
    }
    return len;
}

/* "2026-01-31T23:59:59.123Z" */
static void format_time(char time_text[TIME_BYTES])
{
    int64_t now_ms = dlock_clock_wall_ms();
    time_t now_s = (time_t)(now_ms / 1000);
    struct tm utc;
    size_t len;

    gmtime_r(&now_s, &utc);
    len = strftime(time_text, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(time_text + len, TIME_BYTES - len, ".%03ldZ", (long)(now_ms % 1000));
}

/* The line in `line`, of at most LINE_MAX_BYTES with its end, and its fields; the length is
 * returned. */
static size_t format_text(char *line, const char *level, const char *message)
{
    char time_text[TIME_BYTES];
    size_t len;

    format_time(time_text);
    len = (size_t)snprintf(line, LINE_MAX_BYTES, "%s %-5s ", time_text, level);
    len += strlen(printable(message, line + len, LINE_MAX_BYTES - len - 1));
    len = add_fields(line, len, false);
    line[len++] = '\n';
    return len;
}

/* The same as an object, of at most JSON_MAX_BYTES and the fields.  A printable message is UTF-8
 * without control characters, so only the quote and the backslash are left to escape. */
static size_t format_json(char *line, const char *level, const char *message)
{
    char time_text[TIME_BYTES], clean[LINE_MAX_BYTES];
    size_t len;

    format_time(time_text);
    (void)printable(message, clean, sizeof clean);
    len = (size_t)snprintf(line, JSON_MAX_BYTES,
                           "{\"time\":\"%s\",\"level\":\"%s\",\"message\":\"", time_text,
                           level);
    for (const char *at = clean; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            line[len++] = '\\';
        line[len++] = *at;
    }
    line[len++] = '"';
    len = add_fields(line, len, true);
    memcpy(line + len, "}\n", 2);
    return len + 2;
}

static size_t format_line(char line[WHOLE_MAX_BYTES], enum log_level level, const char *message)
{
    return atomic_load(&format_now) == LOG_JSON ? format_json(line, LEVELS[level], message)
                                                : format_text(line, LEVELS[level], message);
}

/* Say how many lines were lost.  False: there is still no room. */
static bool tell_lost(void)
{
    char line[WHOLE_MAX_BYTES], message[LINE_MAX_BYTES];

    (void)snprintf(message, sizeof message,
                   "%llu %s, because standard error could not be written",
                   (unsigned long long)writing.lost,
                   writing.lost == 1 ? "line of the log is lost" : "lines of the log are lost");
    if (!dlock_descriptor_write_now(STDERR_FILENO, line, format_line(line, LOG_WARN, message)))
        return false;
    writing.lost = 0;
    return true;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    /* `message` has a byte more than a line, so that a message that was cut here is cut
     * there. */
    char line[WHOLE_MAX_BYTES], message[LINE_MAX_BYTES + 1];
    va_list args;
    size_t len;

    if ((int)level < atomic_load(&lowest))
        return;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    len = format_line(line, level, message);
    dlock_mutex_lock(&writing.mutex);
    if ((writing.lost > 0 && !tell_lost()) ||
        !dlock_descriptor_write_now(STDERR_FILENO, line, len))
        writing.lost++;
    dlock_mutex_unlock(&writing.mutex);
}

/* ---- events that repeat ---- */

static struct {
    struct dlock_mutex mutex; /* of every struct limited */
    struct limited *first;    /* of the kinds that have a line */
} limited_kinds = {.mutex = DLOCK_MUTEX_INITIALIZER};

/* Log the number of skipped events, once the kind has a line; the mutex is held. */
static void limited_count(struct limited *l)
{
    const struct log_field count[LOG_FIELDS] = {{"count", NULL, (long long)l->skipped}};
    const struct log_field *kept;

    if (l->skipped == 0 || !l->is_listed)
        return;
    kept = log_set_fields(count);
    log_line(l->level, "%llu more like it: %s", (unsigned long long)l->skipped, l->text);
    (void)log_set_fields(kept);
    l->skipped = 0;
}

bool limited_pass(struct limited *l, uint64_t most, int64_t every_ms)
{
    int64_t now_ns = dlock_clock_ns();
    bool passes;

    dlock_mutex_lock(&limited_kinds.mutex);
    if (now_ns >= l->next_ns) {
        l->next_ns = dlock_clock_after(now_ns, every_ms);
        l->passed = 0;
    }
    passes = l->passed < most;
    l->passed += passes;
    l->skipped += !passes;
    if (passes)
        limited_count(l);
    dlock_mutex_unlock(&limited_kinds.mutex);
    return passes;
}

void limited_line(struct limited *l, enum log_level level, uint64_t most, const char *fmt, ...)
{
    char text[LIMITED_TEXT_MAX];
    va_list args;

    if (!limited_pass(l, most, 1000))
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    log_line(level, "%s", text);
    dlock_mutex_lock(&limited_kinds.mutex);
    l->level = level;
    memcpy(l->text, text, sizeof l->text);
    if (!l->is_listed) {
        l->next = limited_kinds.first;
        limited_kinds.first = l;
        l->is_listed = true;
    }
    dlock_mutex_unlock(&limited_kinds.mutex);
}

void limited_tell(bool is_end)
{
    dlock_mutex_lock(&limited_kinds.mutex);
    for (struct limited *l = limited_kinds.first; l != NULL; l = l->next)
        if (is_end || dlock_clock_ns() >= l->next_ns)
            limited_count(l);
    dlock_mutex_unlock(&limited_kinds.mutex);
}
