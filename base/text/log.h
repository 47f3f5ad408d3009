/* SPDX-License-Identifier: MIT */
/* log.h -- one line per event on standard error: time, level, message; as text or as JSON.
 * The lines of a thread have the fields that it has set, such as those of its request.
 *
 * A line that standard error does not take at once is lost, because a reader that has stopped
 * must not stop the sale.  Before the next line comes one with the number of lost lines.
 *
 * Threads     Any; a line is one write.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below `level` are dropped.  INFO at the start. */
void log_set_level(enum log_level level);

/* LOG_TEXT   2026-01-31T23:59:59.123Z info  MESSAGE
 * LOG_JSON   {"time":"2026-01-31T23:59:59.123Z","level":"info","message":"MESSAGE"}
 * Times are UTC (RFC 3339).  Later versions may append fields to the object; these three keep
 * their names and their order.  The fields of the thread follow, in text as " NAME=VALUE". */
enum log_format { LOG_TEXT, LOG_JSON };

/* Set the format of later lines.  LOG_TEXT at the start. */
void log_set_format(enum log_format format);

/* A field: a text of printable characters without space, quote and backslash, or if `text` is NULL,
 * a number.  A field whose name is NULL is left out. */
struct log_field {
    const char *name, *text;
    long long number;
};
enum { LOG_FIELDS = 8 };

/* From now on the lines of the calling thread have the LOG_FIELDS `fields`, which the caller keeps
 * until the next call, and may change; NULL: none, as at the start.  Returns those of before. */
const struct log_field *log_set_fields(const struct log_field *fields);

/* Write a line whose message is printable (base/text/printable.h), so that no input can
 * forge a line, or break an object of JSON.  A line of text has at most 1024 bytes without its
 * fields, and so has the message of an object before it is escaped; a longer message
 * ends in "...". */
void log_line(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

/* ---- events that repeat: a few lines a second, and the number of the others ---- */

enum { LIMITED_SOME = 10, LIMITED_TEXT_MAX = 1025 };

/* A kind of events.  Begins as {0}; after limited_line() it lives as long as the process. */
struct limited {
    int64_t next_ns;          /* the end of the present span */
    uint64_t passed, skipped; /* events of the span, and events since the last that passed */
    enum log_level level;
    char text[LIMITED_TEXT_MAX]; /* of the last line */
    struct limited *next;
    bool is_listed;
};

/* May the event pass now?  True for the first `most` events of each `every_ms`. */
bool limited_pass(struct limited *l, uint64_t most, int64_t every_ms);

/* Log the event, unless `most` of its kind were logged within a second. */
void limited_line(struct limited *l, enum log_level level, uint64_t most, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Log how many events were not logged, of each kind whose second is over; if `is_end`, of all
 * kinds.  The owner of the process calls it every second, and at the end. */
void limited_tell(bool is_end);

#define LIMITED_LINE(level, most, ...)                                                 \
    do {                                                                               \
        static struct limited limit;                                                   \
        limited_line(&limit, level, most, __VA_ARGS__);                                \
    } while (0)
/* Log a warning at most once a second. */
#define LIMITED_WARN(...) LIMITED_LINE(LOG_WARN, 1, __VA_ARGS__)
/* Log an error of which each case matters: LIMITED_SOME lines a second have their details. */
#define LIMITED_ERROR(...) LIMITED_LINE(LOG_ERROR, LIMITED_SOME, __VA_ARGS__)

#endif /* BASE_LOG_H */
