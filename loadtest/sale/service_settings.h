/* SPDX-License-Identifier: MIT */
/* service_settings.h -- every setting of a seckilld process, as the process prints it.
 *
 * Threads     One.
 */
#ifndef LOADTEST_SALE_SERVICE_SETTINGS_H
#define LOADTEST_SALE_SERVICE_SETTINGS_H

#include <jansson.h>

#include "loadtest/sale/service.h"

/* Ask a seckilld with the flags and the environment of the plan's first process for its
 * settings (--show-config), and write them into service.json in the plan's directory: an array
 * of {"name", "value", "origin"}, without the values of secrets.  A program that does not
 * answer within some seconds leaves no file, since nothing else of a run depends on the file.
 * False: the file cannot be written; errno says why. */
bool service_settings_write(const struct service_plan *plan);

/* The value of a setting in the file that service_settings_write() left in `dir`.  False: there is
 * no file, no such setting, or it has no value. */
bool service_settings_find(const char *dir, const char *name, char *out, size_t size);

enum { SERVICE_STREAM_MAX = 128 };

/* Do the services of the run in `dir` queue orders in a stream, and in which?  If no service has
 * told its settings, there may be the stream `otherwise`. */
bool service_settings_stream(const char *dir, const char *otherwise,
                             char name[SERVICE_STREAM_MAX]);

/* Ask a seckilld whether it knows these flags (NULL at the end) and their values, before servers
 * are started for it.  False: it refuses one, and has said on stderr which.  True does not promise
 * that the service starts: a service looks at some flags together, and only when it starts. */
bool service_settings_suit(const char *const *flags);

#endif /* LOADTEST_SALE_SERVICE_SETTINGS_H */
