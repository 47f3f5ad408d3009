/* SPDX-License-Identifier: MIT */
/* log.h -- one line per event on standard error: time, level, message.
 *
 * Threads     Any; a line is one write.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below `level` are dropped.  INFO at the start. */
void log_set_level(enum log_level level);

/* Write a line of at most 1024 bytes, printable (base/text/printable.h), so that no input can
 * forge a line; a longer message ends in "...". */
void log_line(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif /* BASE_LOG_H */
