/* SPDX-License-Identifier: MIT */
/* log.h -- one line per event on standard error: time, level, message; as text or as JSON.
 * A thread that works on a request of a trace writes that trace into its lines.
 *
 * A line that standard error does not take at once is lost, because a reader that has stopped
 * must not stop the sale.  Before the next line comes one with the number of lost lines.
 *
 * Threads     Any; a line is one write.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/text/trace.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below `level` are dropped.  INFO at the start. */
void log_set_level(enum log_level level);

/* LOG_TEXT   2026-01-31T23:59:59.123Z info  MESSAGE
 * LOG_JSON   {"time":"2026-01-31T23:59:59.123Z","level":"info","message":"MESSAGE"}
 * Times are UTC (RFC 3339).  Later versions may append fields to the object; these three keep
 * their names and their order.  In a trace the object has "trace_id" and "span_id" too, and the
 * text ends in " trace_id=TRACE span_id=SPAN": the names of OpenTelemetry. */
enum log_format { LOG_TEXT, LOG_JSON };

/* Set the format of later lines.  LOG_TEXT at the start. */
void log_set_format(enum log_format format);

/* From now on the lines of the calling thread carry `trace`, which the caller keeps
 * until the next call; NULL: no trace, as at the start. */
void log_set_trace(const struct trace *trace);

/* Write a line whose message is printable (base/text/printable.h), so that no input can
 * forge a line, or break an object of JSON.  A line of text has at most 1024 bytes without its
 * trace, and so has the message of an object before it is escaped; a longer message
 * ends in "...". */
void log_line(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif /* BASE_LOG_H */
