/* SPDX-License-Identifier: MIT */
/* instant.h -- instants between SQL and C: microseconds since 1970 in UTC. */
#ifndef DB_INSTANT_H
#define DB_INSTANT_H

/* The microseconds of an SQL instant. */
#define INSTANT_US(instant) "(extract(epoch FROM " instant ") * 1000000)::bigint"

/* The SQL instant of so many microseconds.  PostgreSQL multiplies intervals as doubles.
 * A double is exact for the whole seconds alone, and for the microseconds of one second
 * alone, but not for both in one number. */
#define INSTANT_OF_US(us)                                                              \
    "'epoch'::timestamptz + (" us " / 1000000) * interval '1 second'"                  \
    " + (" us " % 1000000) * interval '1 microsecond'"

#endif /* DB_INSTANT_H */
